# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect what the files of one reading contain, and build the document for the policies from it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.document import build_document
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import dot_env
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import Parsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.named_files import find_named
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text, has_server_keys
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, lines_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.word_index import index_words

# Also in PowerShell ($env:NAME) and in cmd.exe (%NAME%).
_EXPANDED = re.compile(r"(?:\$(?:env:)?[({]?|%)(ETCD_\w+)")
# NAME=${NAME:-default}
_OWN_VALUE = re.compile(r"(ETCD_\w+)([\"']?\s*[:=]\s*[\"']?)\$[({]?\1\b")


class State:
    """The state of one reading of texts, given as path → text. ``alone``: among other files, a role's default may be overridden by them."""

    def __init__(self, texts: Mapping[str, str], beside: Mapping[str, str]) -> None:
        self.texts = texts
        self._beside = beside
        self.alone = len(texts) == 1
        self.files: list[dict[str, Any]] = []
        self.lines: dict[str, dict[str, Any]] = {}
        self.unparsed: dict[str, str] = {}
        self.translated: dict[str, bool] = {}
        self.passed_over: dict[str, str] = {}
        # Path → the release that the file names, and its line.
        self.releases: dict[str, tuple[str, Line]] = {}
        # They are read last, because units need the environment files.
        self.units: list[Text] = []
        self.environments: list[Text] = []
        # They are read last, because only the files around them tell that they belong to an inventory.
        self.host_lists: list[Text] = []
        # Config files, also those inside other files.
        self.configurations: list[Text] = []
        # Paths of the files whose variables a script passes on to etcd.
        self.passed_on: set[str] = set()

    def document(self, compacts: Sequence[str] = ()) -> dict[str, Any]:
        """Return the document for the policies. compacts: see build_document."""
        for entry in self.files:
            self._state_release(entry["path"], entry["contents"])
        expanded = {name for text in self.texts.values() for name in _EXPANDED.findall(_OWN_VALUE.sub(r"\1\2", text))}
        return build_document(self.files, self.lines, self.unparsed, self.translated, expanded, compacts)

    def _state_release(self, path: str, contents: Any) -> None:
        """Add the release that the member's own file downloads, also to a config file inside a script."""
        if path not in self.releases or not isinstance(contents, dict):
            return
        release, line = self.releases[path]
        found = contents.get("headroom_member")
        if isinstance(found, dict) and found.get("image") is None:
            found["release"] = release
            found["where"]["etcd_version"] = [line.path, line.number]
        elif has_server_keys(contents):
            contents["headroom_release"] = release

    def lines_of_sourced(self, named: str, path: str) -> list[Line]:
        """Return the lines of the only file that a script at a path may mean; empty without one."""
        others = [other for other in self.texts if other != path]
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), named))
        if beside in others:
            return lines_of(beside, self.texts[beside])
        found = find_named([Text(other, other, []) for other in others], named, path)
        return lines_of(found.path, self.texts[found.path]) if found else []

    def variables_beside(self, path: str) -> dict[str, str]:
        """Return the variables of the .env in the folder of a Compose file; empty without one."""
        named = dot_env.beside(path)
        return dot_env.variables_of(self.texts.get(named, self._beside.get(named, "")))

    def size(self) -> int:
        """Return how many texts were found so far, to tell whether a file added any."""
        return len(self.files) + len(self.units) + len(self.environments)

    def add_members(self, path: str, members: Iterable[dict[str, Any]]) -> None:
        """Add members of a file."""
        self.add_documents(path, ({"headroom_member": found} for found in members))

    def add_documents(self, path: str, documents: Iterable[Any]) -> None:
        """Add documents of a file that the policies read themselves."""
        self.files += [{"path": path, "contents": document} for document in documents]

    def index(self, file: Text, parsed: Parsed) -> None:
        """Keep where the words and names of a file are. Of several texts in one file, the first counts."""
        words = index_words(file.text, file.lines[0].number if file.lines else 1)
        self.lines.setdefault(file.path, {"words": words, "scopes": parsed.scopes})
