# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document that headroom-lint and the playbook audit hand to the policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def build_document(
    files: Sequence[Mapping[str, Any]],
    lines: Mapping[str, Any] | None = None,
    unparsed: Mapping[str, str] | None = None,
    translated: Mapping[str, bool] | None = None,
    expanded: Iterable[str] = (),
    compacts: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the document. policies/lib/files/files.rego reads it below the key headroom_lint.

    - files: [{path, contents}], as conftest's --combine passes them
    - lines: path → {words, scopes}: the lines of each word, and the line ranges of each key or name
    - unparsed: path → why a file about etcd was not read
    - translated: path → true for inventories that were converted to the form of YAML inventories
    - expanded: the names of variables that a text expands, such as ETCD_PORT in ${ETCD_PORT}
    - compacts: the paths of files with a command of a client that compacts; absent if there are none

    gather() adds without_etcd, path → why a file that the user named configures no etcd, if this holds for all files, and working_directory, that of
    headroom-lint, if a path is absolute or leads out of it.
    """
    document: dict[str, Any] = {
        "files": files,
        "lines": lines or {},
        "unparsed": unparsed or {},
        "translated": translated or {},
        "expanded": sorted(expanded),
    }
    return {**document, "compacts": list(compacts)} if compacts else document
