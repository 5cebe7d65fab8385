# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the values that fix findings into a diff against the YAML files of the inventory. Writes nothing."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import Finding
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.yaml_edits import obstacle, replaced, unified_diff

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


def text_of(value: Any, node: Any) -> str:
    """Return a value as text. A leading v of a version stays."""
    if isinstance(value, str) and re.match(r"v\d", str(node.value)):
        return f"v{value}"
    return value if isinstance(value, str) else json.dumps(value)


def scalar_text(value: Any, node: Any, keeps_type: bool = False) -> str:
    """Return a value as YAML in the style of the scalar that it replaces.

    keeps_type: whether a number or a boolean must not become a text.
    """
    text = text_of(value, node)
    if keeps_type and not isinstance(value, str):
        return text
    if node.style in ("'", '"'):
        return f"{node.style}{text}{node.style}"
    return json.dumps(text) if isinstance(value, str) and not _is_plain(text) else text


def _is_plain(text: str) -> bool:
    """Return whether YAML reads a text without quotes as this text."""
    try:
        return bool(yaml.safe_load(text) == text)
    except (yaml.YAMLError, ValueError):
        return False


def suggest(
    findings: Iterable[Finding],
    files: Mapping[str, str],
    hostvars: Mapping[str, Mapping[str, Any]],
    groups: Mapping[str, Iterable[str]],
) -> Suggestions:
    """Return the diff that sets the values of the findings, and a line for each value that no change of a text would set."""
    changes: dict[_Span, list[_Change]] = {}
    left_out: _LeftOut = {}
    for finding in findings:
        for name, value in finding.values.items():
            parts = split_name(name)
            found = list(assignments(files, parts))
            for host in finding.hosts:
                assignment = effective(found, host, value_at(hostvars.get(host, {}), parts), groups)
                why = _why_not(files, assignment, value, parts)
                if assignment is None or why:
                    _leave_out(left_out, name, value, host, why)
                    continue
                node = assignment.node
                change = _Change(name, value, host, scalar_text(value, node, parts[0] == CONFIG), text_of(value, node))
                changes.setdefault((assignment.path, node.start_mark.index, node.end_mark.index), []).append(change)
    changed = _apply(changes, files, left_out)
    diff = [line for path in sorted(files) for line in unified_diff(_shown(path), files[path], changed[path])]
    return Suggestions(diff, [_left_out(*key, hosts) for key, hosts in left_out.items()])


class _Change(NamedTuple):
    """A value for a host: what replaces the scalar in the file, and the text that YAML must then read."""

    name: str
    value: Any
    host: str
    replacement: str
    text: str


# The path of a file, and where a scalar begins and ends in its text.
_Span = tuple[str, int, int]
# Variable, its value as JSON, and the reason → the hosts.
_LeftOut = dict[tuple[str, str, str], list[str]]


def _apply(changes: Mapping[_Span, list[_Change]], files: Mapping[str, str], left_out: _LeftOut) -> dict[str, str]:
    """Return the changed texts of the files by path. Adds the changes that cannot be made to ``left_out``."""
    changed = dict(files)
    # From the last to the first, so that each change leaves the positions of the others.
    for span in sorted(changes, reverse=True):
        (path, start, end), wanted = span, changes[span]
        after = replaced(changed[path], start, end, wanted[0].replacement, wanted[0].text)
        if len({change.replacement for change in wanted}) > 1:
            why = f"{path} sets it once, and other findings need another value there"
        elif after is None:
            why = f"this value in {path} would change other parts of the file"
        else:
            changed[path] = after
            continue
        for change in wanted:
            _leave_out(left_out, change.name, change.value, change.host, why)
    return changed


def _why_not(files: Mapping[str, str], assignment: Assignment | None, value: Any, parts: list[str]) -> str:
    """Return why a value is not suggested; empty if it is."""
    if assignment is None:
        return "no YAML file of the inventory certainly sets it"
    text, node = files[assignment.path], assignment.node
    written = obstacle(text, node)
    if written:
        return f"{assignment.path} writes it {written}"
    if scalar_text(value, node, parts[0] == CONFIG) == text[node.start_mark.index : node.end_mark.index]:
        return f"{assignment.path} has this text already"
    return ""


def _leave_out(left_out: _LeftOut, name: str, value: Any, host: str, why: str) -> None:
    hosts = left_out.setdefault((name, json.dumps(value), why), [])
    hosts += [host] if host not in hosts else []


def _left_out(name: str, value: str, why: str, hosts: list[str]) -> str:
    more = f" and {len(hosts) - SHOWN} more" if len(hosts) > SHOWN else ""
    named = ", ".join(hosts[:SHOWN])
    return f"{name} of {named}{more}: {why}; the value would be {value}"


def _shown(path: str) -> str:
    """Return the path as `git apply` and `patch -p1` take it in the current directory."""
    below = os.path.relpath(path)
    return path.lstrip("/") if below.startswith(os.pardir) else below
