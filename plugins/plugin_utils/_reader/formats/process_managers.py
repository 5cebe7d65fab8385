# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read files whose lines name the commands that a supervisor runs: a Procfile, and the programs of supervisord."""

from __future__ import annotations

import posixpath
import re
import shlex

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_PROCESS = re.compile(r"^[\w.-]+:\s*(.+)$")
_SECTION = re.compile(r"^\[([^\]]+)\]")
_KEY = re.compile(r"^(\w+)\s*=\s*(.*)$")
# KEY="value",KEY='value',KEY=value
_PAIR = re.compile(r"([A-Za-z_]\w*)\s*=\s*(\"[^\"]*\"|'[^']*'|[^,\s]*)")
# %(ENV_NAME)s and %(program_name)s
_EXPANSION = re.compile(r"%\((?:ENV_)?(\w+)\)\d*[sd]")

Section = dict[str, list[Line]]


def commands_of(path: str, lines: list[Line]) -> list[Line]:
    """Return the commands, each with its line; empty for another file."""
    if posixpath.basename(path).startswith("Procfile"):
        return [line._replace(text=found[1]) for line in lines if (found := _PROCESS.match(line.text))]
    if not any(line.text.startswith("[program:") for line in lines):
        return []
    sections = _sections(lines)
    shared = next((section.get("environment", []) for name, section in sections if name == "supervisord"), [])
    return [
        line
        for name, section in sections
        if name.startswith("program:") and "command" in section
        for line in [*_environment(shared), *_environment(section.get("environment", [])), *_joined(section["command"])]
    ]


def _sections(lines: list[Line]) -> list[tuple[str, Section]]:
    """Return the sections of supervisord, each with the lines of its values by their keys."""
    sections: list[tuple[str, Section]] = []
    key, indent = "", 0
    for line in lines:
        text = line.text.strip()
        own = len(line.text) - len(line.text.lstrip())
        header, value = _SECTION.match(line.text), _KEY.match(text)
        if header:
            sections.append((header[1], {}))
            key = ""
        elif key and own > indent and text[:1] not in ("", ";", "#"):  # a deeper indent continues the value
            sections[-1][1][key].append(line)
        elif value and sections:
            key, indent = value[1], own
            sections[-1][1][key] = [line._replace(text=value[2])]
    return sections


def _environment(lines: list[Line]) -> list[Line]:
    """Return the variables of a program as words before its command, which continues their lines."""
    found = []
    for line in lines:
        text = re.sub(r"\s;.*$", "", line.text)
        pairs = [(name, _EXPANSION.sub(r"${\1}", value.strip("\"'"))) for name, value in _PAIR.findall(text)]
        words = [f"{name}={shlex.quote(value)}" for name, value in pairs]
        found += [line._replace(text=" ".join(words) + " \\")] if words else []
    return found


def _joined(lines: list[Line]) -> list[Line]:
    """Return a command over several lines as a shell writes it."""
    return [line._replace(text=line.text.rstrip("\\") + " \\") for line in lines[:-1]] + lines[-1:]
