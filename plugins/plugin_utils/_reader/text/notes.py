# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read notes that hold several files, each below a line with its path and a colon."""

from __future__ import annotations

import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_HEADING = re.compile(r"^\s*[#*`]*\s*(/(?:[\w.@-]+/)+[\w.@-]+)\s*`?:\s*$")


_FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
_NAME_OF_MEMBER = re.compile(r"(?:(?:^|\s)--?name[= ]|\bETCD_NAME=|^\s*name:\s)\s*[\"']?([\w.-]+)")
_PATH = re.compile(r"`(/(?:[\w.@-]+/)+[\w.@-]+)`")
_NAMED = re.compile(r"^\s*[#*`]*\s*((?:[\w.@-]+/)*[\w@-]+\.(?:ya?ml|json|service|conf|env|sh))\s*`?:?\s*$")


def blocks_of(lines: list[Line]) -> list[tuple[str, list[Line]]]:
    """Return the fenced blocks of Markdown, each with the path on the host that the line above it names; empty without one."""
    blocks: list[tuple[str, list[Line]]] = []
    fence, above = "", ""
    for line in lines:
        found = _FENCE.match(line.text)
        if fence and found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
        elif fence:
            blocks[-1][1].append(line)
        elif found:
            fence = found[1]
            named = _PATH.search(above)
            blocks.append((named[1] if named else "", []))
        above = line.text if line.text.strip() else above
    return blocks


def is_again(block: list[Line], others: list[list[Line]]) -> bool:
    """Return whether another block is about the member with the same name, as notes show one member in several forms."""
    names = _names_in(block)
    return any(names & _names_in(other) for other in others)


def _names_in(block: list[Line]) -> set[str]:
    return {found[1] for line in block for found in _NAME_OF_MEMBER.finditer(line.text)}


def named_parts_of(lines: list[Line]) -> list[tuple[str, list[Line]]]:
    """Return the name and the lines of each file below a line with only its name; empty for a text without such lines."""
    parts: list[tuple[str, list[Line]]] = []
    for line in lines:
        heading = _NAMED.match(line.text)
        if heading:
            parts.append((heading[1], []))
        elif parts:
            parts[-1][1].append(line)
    return parts


def parts_of(lines: list[Line]) -> list[tuple[str, list[Line]]]:
    """Return the path on the host and the lines of each file; empty for a text that is not such notes."""
    first = next((line for line in lines if line.text.strip()), None)
    if first is None or not _HEADING.match(first.text):
        return []
    parts: list[tuple[str, list[Line]]] = []
    for line in lines:
        heading = _HEADING.match(line.text)
        if heading:
            parts.append((heading[1], []))
        elif parts:
            parts[-1][1].append(line)
    return parts
