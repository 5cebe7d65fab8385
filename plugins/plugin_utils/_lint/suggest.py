# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the values that fix findings into a diff against the YAML files of the inventory. Writes nothing."""

from __future__ import annotations

import difflib
import json
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import Finding

FOLDERS = ("group_vars", "host_vars")
# The variable with the keys of etcd's config file, where etcd refuses a number or a boolean in quotes.
CONFIG = "etcd_extra_config"
# Maximum number of hosts that a line names.
SHOWN = 3


class Assignment(NamedTuple):
    """Where a file sets a variable: for one host, or for the hosts of a group."""

    path: str
    is_host: bool
    scope: str
    node: Any


class Suggestions(NamedTuple):
    """The diff, and why some values are not in it."""

    diff: list[str]
    left_out: list[str]


def split_name(name: str) -> list[str]:
    """Return the parts of a name: ``etcd_workload["keys"]`` has two."""
    return [name.split("[", 1)[0], *re.findall(r'\["([^"]*)"\]', name)]


def value_at(variables: Mapping[str, Any], parts: list[str]) -> Any:
    """Return the value at a name's parts, None if there is none."""
    found: Any = variables
    for part in parts:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _child(node: Any, key: str) -> Any:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for name, value in node.value if getattr(name, "value", None) == key), None)


def _items(node: Any) -> list[tuple[str, Any]]:
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(str(name.value), value) for name, value in node.value if isinstance(name, yaml.ScalarNode)]


def _scopes(groups: Any) -> Iterator[tuple[bool, str, Any]]:
    """Yield the variables of every host and group of an inventory file: whether it is a host, its name, the mapping."""
    for group, content in _items(groups):
        yield False, group, _child(content, "vars")
        for host, variables in _items(_child(content, "hosts")):
            yield True, host, variables
        yield from _scopes(_child(content, "children"))


def assignments(files: Mapping[str, str], parts: list[str]) -> Iterator[Assignment]:
    """Yield each assignment of a variable. ``files``: contents by path; a file with other content than YAML sets nothing."""
    for path, text in files.items():
        try:
            document = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError:
            continue
        folder = next((part for part in path.split("/")[:-1] if part in FOLDERS), None)
        if folder:
            scope = path.split(f"{folder}/", 1)[1].split("/")[0]
            scopes = iter([(folder == "host_vars", posixpath.splitext(scope)[0], document)])
        else:
            scopes = _scopes(document)
        for is_host, name, node in scopes:
            for part in parts:
                node = _child(node, part)
            if isinstance(node, yaml.ScalarNode):
                yield Assignment(path, is_host, name, node)


def _written(assignment: Assignment) -> Any:
    """Return the value that a file sets; the node itself, which equals no value, for a vault or a malformed date."""
    try:
        return yaml.constructor.SafeConstructor().construct_object(assignment.node)
    except (yaml.YAMLError, ValueError):
        return assignment.node


def effective(found: list[Assignment], host: str, value: Any, groups: Mapping[str, Iterable[str]]) -> Assignment | None:
    """Return the assignment that sets a host's value: its own, or else its smallest group's; None if that is not certain."""
    mine = [
        assignment
        for assignment in found
        if (assignment.scope == host if assignment.is_host else host in set(groups.get(assignment.scope, ())))
        and _written(assignment) == value
    ]
    if not mine:
        return None
    sizes = [0 if assignment.is_host else len(set(groups[assignment.scope])) for assignment in mine]
    return mine[sizes.index(min(sizes))] if sizes.count(min(sizes)) == 1 else None


def scalar_text(value: Any, node: Any, keeps_type: bool = False) -> str:
    """Return a value as YAML in the style of the scalar that it replaces. A leading v of a version stays.

    keeps_type: whether a number or a boolean must not become a text.
    """
    if keeps_type and not isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, str) and re.match(r"v\d", str(node.value)):
        value = f"v{value}"
    text = value if isinstance(value, str) else json.dumps(value)
    if node.style in ("'", '"'):
        return f"{node.style}{text}{node.style}"
    if isinstance(value, str) and yaml.safe_load(text) != value:
        return json.dumps(text)
    return str(text)


def suggest(
    findings: Iterable[Finding],
    files: Mapping[str, str],
    hostvars: Mapping[str, Mapping[str, Any]],
    groups: Mapping[str, Iterable[str]],
) -> Suggestions:
    """Return the diff that sets the values of the findings, and a line for each value that no change of a text would set."""
    edits: dict[str, dict[tuple[int, int], str]] = {}
    left_out: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        for name, value in finding.values.items():
            parts = split_name(name)
            found = list(assignments(files, parts))
            for host in finding.hosts:
                assignment = effective(found, host, value_at(hostvars.get(host, {}), parts), groups)
                if assignment is None:
                    why = "no YAML file of the inventory certainly sets it"
                else:
                    start, end = assignment.node.start_mark.index, assignment.node.end_mark.index
                    text = scalar_text(value, assignment.node, parts[0] == CONFIG)
                    if text != files[assignment.path][start:end]:
                        edits.setdefault(assignment.path, {}).setdefault((start, end), text)
                        continue
                    why = f"{assignment.path} has this text already"
                hosts = left_out.setdefault((name, json.dumps(value), why), [])
                hosts += [host] if host not in hosts else []
    diff = [line for path in sorted(edits) for line in _diff(path, files[path], edits[path])]
    return Suggestions(diff, [_left_out(*key, hosts) for key, hosts in left_out.items()])


def _left_out(name: str, value: str, why: str, hosts: list[str]) -> str:
    more = f" and {len(hosts) - SHOWN} more" if len(hosts) > SHOWN else ""
    named = ", ".join(hosts[:SHOWN])
    return f"{name} of {named}{more}: {why}; the value would be {value}"


def _diff(path: str, text: str, edits: Mapping[tuple[int, int], str]) -> list[str]:
    """Return a unified diff of one file. The edits are from the last to the first, so that each leaves the others' positions."""
    changed = text
    for (start, end), replacement in sorted(edits.items(), reverse=True):
        changed = changed[:start] + replacement + changed[end:]
    below = os.path.relpath(path)  # as `git apply` and `patch -p1` take it in the current directory
    name = path.lstrip("/") if below.startswith(os.pardir) else below
    return list(difflib.unified_diff(text.splitlines(), changed.splitlines(), f"a/{name}", f"b/{name}", lineterm=""))
