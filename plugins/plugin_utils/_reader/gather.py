# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what a user named, files and folders, and sort out what was not read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import WITHOUT_ETCD, read
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.tree import collect


class Gathered(NamedTuple):
    """The document for the policies (see build_document), and path → why a file was not read: named by the user, or passed over in a folder."""

    document: dict[str, Any]
    refused: dict[str, str]
    passed_over: dict[str, str]

    def messages(self) -> list[str]:
        """Return a message about each named file that was not read as a whole."""
        read = {entry["path"] for entry in self.document["files"] if entry["contents"]}
        return [
            f"{path} was read only in part: {why}" if path in read else f"{path} was not read: {why}"
            for path, why in self.refused.items()
        ]


def gather(paths: Iterable[str], ignore: str = "") -> Gathered:
    """Read files and folders; leave out the paths that match ``ignore``."""
    tree = collect(paths, ignore)
    reading = read(tree.texts, tree.beside, tree.empty_folders)
    # A file that is known to configure no etcd counts as read, also if the user named it.
    without = {path: why for path, why in reading.passed_over.items() if path in tree.named and why in WITHOUT_ETCD}
    problems = {**reading.passed_over, **tree.problems}
    refused = {path: why for path, why in problems.items() if path in tree.named and path not in without}
    unparsed = reading.document["unparsed"]
    unparsed.update(refused)
    # A document of a folder that was read, but that its own program refuses.
    unparsed.update({path: why for path, why in tree.problems.items() if "etcd" in tree.texts.get(path, "")})
    # A folder must contain etcd, and so must one of several files.
    if without and without.keys() == {*tree.texts, *tree.problems}:
        reading.document["without_etcd"] = without
    # The policies compare the folders of waivers with those of inventories.
    if any(os.path.isabs(path) or path.startswith(os.pardir) for path in tree.texts):
        reading.document["working_directory"] = os.getcwd()
    return Gathered(
        reading.document,
        {path: why for path, why in unparsed.items() if path in tree.named},
        {path: why for path, why in problems.items() if path not in unparsed},
    )
