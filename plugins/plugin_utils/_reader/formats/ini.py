# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate an INI inventory into the form of a YAML inventory, with the values that Ansible's INI plugin gives."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import SERVER_FLAG
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, Unparsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.templates import name_hosts

_SECTION = re.compile(r"^\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?$")
_VERSION = re.compile(r"\betcd_(\w*(version|ver|release)|(docker_)?image(_tag)?)\s*=", re.IGNORECASE)

# What only an inventory has.
_OF_INVENTORY = re.compile(r"^\s*\[[^\]]*:|\bansible_\w+\s*=", re.MULTILINE)
# A comment, a section, a setting, or an element of a list in TOML.
_SETTING = re.compile(r"^\s*([#;].*|\[.*\](\s*[#;].*)?|[\w.\"'-]+\s*=.*|[\"'\]}].*)?$")
# A host above all sections, and the variables behind it.
_HOST = re.compile(r"^\s*([\w.-]|\[\w*:\w*(:\d+)?\])+(:\d+)?(\s+[A-Za-z_]\w*=.*|\s+#.*)?\s*$")
_COMMENT = re.compile(r"^\s*([#;].*)?$")
_KEY = re.compile(r"^\s*([\w-]+)\s*=")

Group = dict[str, Any]


def groups_of(lines: list[Line], release: tuple[str, Line] | None = None) -> dict[str, Group]:
    """Return the groups of an inventory, with the release if only the name of an archive states it. Raises Unparsed."""
    groups = _groups_of(lines)
    if release and not any(_VERSION.search(line.text) for line in lines):
        groups.setdefault("all", {}).setdefault("vars", {})["etcd_version"] = release[0]
    return groups


def is_of_program(lines: list[Line]) -> bool:
    """Return whether a file is the configuration of another program, such as a client: sections with settings, and no sign of an inventory."""
    keys = [found[1] for line in lines if (found := _KEY.match(line.text))]
    if not keys or any(SERVER_FLAG.match(f"--{key}") for key in keys):
        return False
    return not any(_OF_INVENTORY.search(line.text) or not _SETTING.match(line.text) for line in lines)


def is_list_of_hosts(lines: list[Line]) -> bool:
    """Return whether each line of a file may be a host of an inventory without sections."""
    content = [line.text for line in lines if not _COMMENT.match(line.text)]
    return bool(content) and all(map(_HOST.match, content))


def _groups_of(lines: list[Line]) -> dict[str, Group]:
    """Return the groups of an inventory, also if it is a template."""
    text = "\n".join(line.text for line in lines)
    try:
        return read_inventory(text)
    except Unparsed:
        named = "\n".join(line.text for line in name_hosts(lines))
        if named == text:
            raise
        return read_inventory(named)


def read_inventory(text: str) -> dict[str, Group]:
    """Return group → {hosts, vars, children}. Raises Unparsed for a line that Ansible refuses.

    The last assignment in the file wins, as in Ansible, wherever a host is named again.
    """
    groups: dict[str, Group] = {}
    hosts: dict[str, dict[str, Any]] = {}
    group, kind = "ungrouped", "hosts"
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        section = _SECTION.match(line)
        if section:
            group, kind = section[1], section[2] or "hosts"
            if kind not in ("hosts", "vars", "children"):
                raise Unparsed(f"line {number}: [{group}:{kind}] is not a section of an inventory")
            groups.setdefault(group, {})
        elif line.startswith("["):
            raise Unparsed(f"line {number}: {line[:60]!r} is not a section of an inventory")
        elif kind == "hosts":
            name, variables = _host(line, number, groups)
            hosts.setdefault(name, {}).update(variables)
            groups.setdefault(group, {}).setdefault("hosts", {})[name] = hosts[name]
        elif kind == "vars":
            name, equals, value = line.partition("=")
            if not equals:
                raise Unparsed(f"line {number}: expected NAME=VALUE, found {line[:60]!r}")
            groups[group].setdefault("vars", {})[name.strip()] = parse_value(value.strip())
        else:
            groups[group].setdefault("children", {})[line.split("#")[0].strip()] = {}
    return groups


def _host(line: str, number: int, groups: dict[str, Group]) -> tuple[str, dict[str, Any]]:
    try:
        name, *rest = shlex.split(line, comments=True)
    except ValueError as error:
        raise Unparsed(f"line {number}: {error} in {line[:60]!r}") from error
    wrong = [word for word in rest if "=" not in word]
    # Above the first section, Ansible takes NAME=VALUE for a host of that name, in no group.
    if wrong or ("=" in name and groups.keys() - {"ungrouped"}):
        raise Unparsed(f"line {number}: expected NAME=VALUE after the host, found {(wrong or [name])[0]!r}")
    pairs = [word.split("=", 1) for word in rest]
    return name, {key: parse_value(value) for key, value in pairs}


def parse_value(text: str) -> Any:
    """Return a Python literal's value as JSON has it, any other text as it is (docs/inventory.md lists the cases)."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return _plain(value, text)


def _plain(value: Any, text: str) -> Any:
    if isinstance(value, (tuple, set, list)):
        return [_plain(item, str(item)) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item, str(item)) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and abs(value) < 1e300):
        return value
    return text
