# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add files that only belong to an inventory because of those around them: lists of hosts, and files and folders of variables (docs/inventory.md, rule 3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import playbook
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import (
    Parsed,
    read_documents,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats import ini
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.state import State
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Unparsed, lines_of

_VARS = re.compile(r"^(?P<folder>(?:.*/)?)(?:group_vars|host_vars)/(?P<name>.+)$")
# Ansible reads no inventory from such a file (rule 1), and none from the files of a role.
_IGNORED = re.compile(
    r"(^|/)(\.[^/]*|roles/.*|(group_vars|host_vars|vars_plugins)/.*|[^/]*(\.(orig|bak|cfg|retry|txt|md|rst|rpm|swp|pyc|pyo)|~))$"
)


def add_inventories(state: State, empty_folders: Iterable[str]) -> None:
    """Add the lists of hosts and the variables of a reading. empty_folders: folders without a file that was read."""
    # What Ansible finds depends on the files around one.
    if state.alone:
        return
    folders = set(_inventory_folders(state))
    for file in state.host_lists:
        if not _IGNORED.search(file.path) and not folders.isdisjoint(_folders_around(file.path)):
            state.add_documents(file.path, [ini.groups_of(file.lines)])
            state.translated[file.path] = True
            state.index(file, Parsed([], {}, []))
            state.passed_over.pop(file.path, None)
    read = {entry["path"] for entry in state.files}
    for path, text in state.texts.items():
        found = _VARS.match(path)
        if found and path not in read:
            # A host's name has dots, but in a folder Ansible reads only files without an ending among those that were not read yet.
            is_read = "/" not in found["name"] or "." not in posixpath.basename(path)
            _add_variables(state, path, text if is_read else "")
    # A folder hides the file of the same name even if it is empty.
    for folder in empty_folders:
        if _VARS.match(folder):
            state.add_documents(f"{folder}/.empty", [{}])


def is_variables(path: str) -> bool:
    """Tell whether a file is below group_vars or host_vars."""
    return _VARS.match(path) is not None


def _inventory_folders(state: State) -> Iterator[str]:
    """Yield the folders that contain an inventory file, group_vars or host_vars."""
    yield from (found["folder"].rstrip("/") for path in state.texts if (found := _VARS.match(path)))
    yield from map(posixpath.dirname, state.translated)
    for entry in state.files:
        if playbook.is_inventory([entry["contents"]]):
            yield posixpath.dirname(entry["path"])


def _folders_around(path: str) -> Iterator[str]:
    while path not in ("", "/"):
        path = posixpath.dirname(path)
        yield path


def _add_variables(state: State, path: str, text: str) -> None:
    """Add the variables in a text. Without any, the file still hides others with variables of the same host or group."""
    try:
        parsed = read_documents(path, text)
    except Unparsed:
        parsed = Parsed([], {}, [])
    variables = [document for document in parsed.documents if isinstance(document, dict)]
    state.add_documents(path, variables or [{}])
    if variables:
        state.index(Text(path, path, lines_of(path, text)), parsed)
        state.passed_over.pop(path, None)
