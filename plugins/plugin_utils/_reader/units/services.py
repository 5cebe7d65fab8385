# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the units of a reading with their drop-ins and environment files, then the environment files that no unit names."""

from __future__ import annotations

import posixpath
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import Parsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts import k3s
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import read_environment
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.state import State
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, lines_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.units import (
    drop_ins,
    quadlet,
    unit,
    unit_completeness,
    unit_config_file,
)

NO_UNIT = "it starts no etcd"
_NO_DROP_IN = "systemd reads only *.conf in this folder"


def add_units(state: State) -> None:
    """Add the members that units and environment files describe."""
    used: set[int] = set()
    named_by: dict[str, list[Text]] = {}
    others = [Text(path, path, lines_of(path, state.texts[path])) for path in [*state.passed_over, *state.unparsed]]

    def find(named: str, unit_path: str) -> list[Line] | None:
        """Return the lines of the environment files that a unit names, and mark these as used."""
        files = drop_ins.find_environments(state.environments, others, named, unit_path)
        used.update(map(id, files))
        named_by.setdefault(unit_path, []).extend(files)
        for file in files:
            state.passed_over.pop(file.path, None)
            state.unparsed.pop(file.path, None)
        return [line for file in files for line in file.lines] if files else None

    ignored = [file for file in state.units if drop_ins.is_ignored(file.target)]
    state.passed_over.update({file.path: _NO_DROP_IN for file in ignored if file.path == file.target})
    for parts in drop_ins.by_unit(file for file in state.units if file not in ignored):
        directives = unit.merge(unit.read_directives(part.lines) for part in parts)
        reader = quadlet.member_of if quadlet.is_container(parts[0].text) else unit.member_of
        found = reader(directives, find)
        if found is not None and _adds_nothing(found, state.configurations):
            # Its config file is the member.
            continue
        if found is not None:
            found, config = unit_config_file.with_config_file(found, parts[0].path, state)
            files = [*parts, *config, *(file for part in parts for file in named_by.get(part.path, []))]
            is_complete = unit_completeness.is_complete(found, directives, files, state.texts)
            state.add_members(parts[0].path, [{**found, "complete": True} if is_complete else found])
        elif server := k3s.document_of([_as_command(one) for one in directives if one.name == "ExecStart"]):
            state.add_documents(parts[0].path, [server])
            state.index(parts[0], Parsed([], {}, []))
        else:
            # A unit inside another file says nothing about the rest of that file.
            state.passed_over.update({part.path: NO_UNIT for part in parts if part.path == part.target})
    for file in state.environments:
        if id(file) not in used and file.path not in state.passed_on:
            state.add_members(file.path, [member.from_environment(read_environment(file.lines))])


def _as_command(start: unit.Directive) -> Line:
    """Return the command of a unit as one line of a script."""
    first = start.source.lines[0]
    return Line(first.path, first.number, start.value.lstrip("@:+!-"))


def _adds_nothing(found: dict[str, Any], configurations: list[Text]) -> bool:
    """Return whether a unit only starts etcd with a config file that is among the files, and states nothing else about it."""
    named = posixpath.basename(member.config_file(found))
    if not named or not any(named == posixpath.basename(file.target) for file in configurations):
        return False
    words = found["command"][1:]
    is_alone = len(words) == (1 if "=" in words[0] else 2)
    stated = ("image", "environment", "limit", "memlock", "facts", "unknown")
    return is_alone and not any(found[key] for key in stated)
