# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add files that only belong to an inventory because of those around them: lists of hosts, and files and folders of variables (docs/inventory.md, rule 3)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import broken_yaml, playbook
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import (
    ENCRYPTED,
    Parsed,
    maps_below,
    read_documents,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.formats import ini
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.state import State
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Unparsed, lines_of

_VARS = re.compile(r"^(?P<folder>(?:.*/)?)(?:group_vars|host_vars)/(?P<name>.+)$")
_ENDING = re.compile(r"\.(yml|yaml|json)$")
# The hosts n[1:3].example.com.
_RANGE = re.compile(r"^(?P<before>[^\[]*)\[.*\](?P<behind>[^\]]*)$")
# An inventory in YAML or JSON has such a key. Parsing all other files would take too long.
_GROUP = re.compile(r"\b(hosts|children|vars)[\"']?\s*:")
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
        if _IGNORED.search(file.path) or folders.isdisjoint(_folders_around(file.path)):
            continue
        if _is_mapping(file):
            state.unparsed[file.path] = (
                "Ansible reads it as YAML, because each line has a colon before a blank, and finds no hosts: add a section, such as [all]"
            )
            state.passed_over.pop(file.path, None)
        else:
            state.add_documents(file.path, [ini.groups_of(file.lines)])
            state.translated[file.path] = True
            state.index(file, Parsed([], {}, []))
            state.passed_over.pop(file.path, None)
    is_named = _named_variables(state)
    read = {entry["path"] for entry in state.files}
    for path, text in state.texts.items():
        found = _VARS.match(path)
        if found and path not in read:
            # A host's name has dots, but in a folder Ansible reads only files without an ending among those that were not read yet.
            is_read = "/" not in found["name"] or "." not in posixpath.basename(path)
            _add_variables(state, path, text if is_read else "", is_named(path))
    for path, contents in ((entry["path"], entry["contents"]) for entry in state.files):
        # The policies report those whose names mean YAML or JSON.
        if not _ENDING.search(path) and is_named(path) and _is_refused(contents):
            state.unparsed[path] = "not a mapping, which Ansible refuses"
            state.passed_over.pop(path, None)
    # A folder hides the file of the same name even if it is empty.
    for folder in empty_folders:
        if _VARS.match(folder):
            state.add_documents(f"{folder}/.empty", [{}])


def _is_mapping(file: Text) -> bool:
    """Return whether Ansible reads a list of hosts as YAML, which it tries before INI, such as n1 etcd_workload='{"keys": 5}' alone in a file."""
    if "." in posixpath.basename(file.path):
        return False
    try:
        return any(isinstance(document, dict) for document in read_documents(file.path, file.text).documents)
    except Unparsed:
        return False


def is_document(file: Text) -> bool:
    """Return whether a file without an ending is an inventory in YAML or JSON, which Ansible reads like one with an ending."""
    if "." in posixpath.basename(file.path) or _IGNORED.search(file.path) or not _GROUP.search(file.text):
        return False
    try:
        documents = broken_yaml.parse_or_mend(file, False)[0].documents
    except Unparsed:
        return False
    return playbook.is_inventory(documents) or _has_only_variables(documents)


def _has_only_variables(documents: list[Any]) -> bool:
    """Return whether a document has nothing but groups with variables, and empty ones."""
    groups = [group for document in documents for group in (document.values() if isinstance(document, dict) else [""])]
    return any(groups) and all(
        group is None or (isinstance(group, dict) and group.keys() <= {"vars"}) for group in groups
    )


def is_variables(path: str) -> bool:
    """Return whether a file is below group_vars or host_vars."""
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


def _named_variables(state: State) -> Callable[[str], bool]:
    """Return a function that tells whether a path is that of variables of a host or group. Ansible opens no other file, such as host_vars/README.md."""
    entries = (entry["contents"] for entry in state.files if playbook.is_inventory([entry["contents"]]))
    names = {"all", "ungrouped", *(name for contents in entries for group in maps_below(contents) for name in group)}
    ranges = [(found["before"], found["behind"]) for name in names if (found := _RANGE.match(name))]

    def is_named(path: str) -> bool:
        found = _VARS.match(path)
        name = _ENDING.sub("", found["name"].split("/")[0]) if found else ""
        return name in names or any(name.startswith(before) and name.endswith(behind) for before, behind in ranges)

    return is_named


def _is_refused(contents: Any) -> bool:
    """Return whether Ansible refuses the contents of a file of variables. It accepts an empty file."""
    is_vault = isinstance(contents, str) and contents.startswith(ENCRYPTED)
    return bool(contents) and not isinstance(contents, dict) and not is_vault


def _add_variables(state: State, path: str, text: str, is_named: bool) -> None:
    """Add the variables in a text. Without any, the file still hides others with variables of the same host or group."""
    documents: list[Any] = []
    try:
        parsed = read_documents(path, text)
        documents = [one for one in parsed.documents if isinstance(one, dict) or is_named or text.startswith(ENCRYPTED)]
    except Unparsed as problem:
        if is_named:
            state.unparsed[path] = str(problem)
            state.passed_over.pop(path, None)
    state.add_documents(path, documents or [{}])
    if documents:
        state.index(Text(path, path, lines_of(path, text)), parsed)
        state.passed_over.pop(path, None)
        if is_named:
            state.unparsed.pop(path, None)
