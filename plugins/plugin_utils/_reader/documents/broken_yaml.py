# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the known part of broken YAML: tabs, values without quotes, marks of a merge, and one broken document or service among others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import template_outline
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import Parsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import (
    Text,
    is_configuration,
    is_manifest,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, Unparsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.templates import UNKNOWN

_OURS, _BASE, _THEIRS, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_MARK = re.compile(r"^(<{7}|\|{7}|={7}|>{7})(\s|$)")
_VALUE = re.compile(r"^(\s*(?:- +)*[\w./-]+:[ \t]+)([^\s{\[|>&!#].*?)\s*$")
_ITEM = re.compile(r"^(\s*- +)([^\s{\[|>&!#-].*?)\s*$")
_SEPARATOR = re.compile(r"^---(\s|$)")
# What surrounds a file in notes: the fence of a block, and the command that printed the file.
_AROUND = re.compile(r"^\s*(```|~~~)|^[^\s:]*[$#] +(sudo +)?(cat|head|less|more|tail)\s")
_SERVICES = re.compile(r"^services:\s*(#.*)?$")
_WIDTHS = (2, 4, 8)
_MOST_VALUES = 20
# Longer files are generated, and each attempt parses the whole file.
_LONGEST = 3_000


def parse_or_mend(file: Text, is_cloud_config: bool) -> tuple[Parsed, str]:
    """Parse a file as YAML. Return also what was not read of broken YAML, else "". Raises Unparsed if nothing is known."""
    try:
        return template_outline.parse(file, is_cloud_config), ""
    except Unparsed as problem:
        mended = _mend(file, problem) if "etcd" in file.text else None
        if mended:
            return mended
        beginning = template_outline.parse_beginning(file, problem.line)
        if beginning is None:
            raise
    parsed, number = beginning
    return parsed, f"line {number} is not YAML; only the lines before it were checked"


def _mend(file: Text, problem: Unparsed) -> tuple[Parsed, str] | None:
    """Parse broken YAML. Return also what was not read; None if nothing is known."""
    if len(file.lines) > _LONGEST:
        return None
    lines = [line for line in file.lines if not _AROUND.match(line.text)]
    lines = _merged(lines) if any(line.text.startswith(_OURS) for line in lines) else lines
    whole = _repaired(file._replace(lines=lines))
    if whole:
        return whole, f"{problem}; the rest was checked"
    return _parse_sound_documents(file, lines, problem) or _parse_without_broken_services(file, lines, problem)


def _repaired(file: Text) -> Parsed | None:
    """Return what a file contains once its tabs are blanks, and the values at which parsing ends have quotes."""
    try:
        return template_outline.parse(file, False)
    except Unparsed:
        is_template = is_manifest(file.text) or is_configuration(file)
        lines = (template_outline.outline(file.lines) if is_template else []) or file.lines
    found = [parsed for candidate in _without_tabs(lines) if (parsed := _with_quotes(file._replace(lines=candidate)))]
    # Each width of a tab must mean the same.
    return found[0] if found and all(parsed.documents == found[0].documents for parsed in found) else None


def _without_tabs(lines: list[Line]) -> Iterator[list[Line]]:
    """Yield the lines with blanks in place of tabs, for each width that a tab may have."""
    if not any("\t" in line.text for line in lines):
        yield lines
        return
    for width in _WIDTHS:
        yield [line._replace(text=_expanded(line.text, width)) for line in lines]


def _expanded(text: str, width: int) -> str:
    content = text.lstrip()
    margin = text[: len(text) - len(content)].expandtabs(width)
    return f"{margin}{content}".replace("\t", " ").rstrip()


def _with_quotes(file: Text) -> Parsed | None:
    """Parse a file, and put quotes around each value at which that ends."""
    lines = list(file.lines)
    last = -1
    for _attempt in range(_MOST_VALUES):
        try:
            return template_outline.parse(file._replace(lines=lines), False)
        except Unparsed as problem:
            position = next((number for number, line in enumerate(lines) if line.number == problem.line), -1)
        found = _VALUE.match(lines[position].text) or _ITEM.match(lines[position].text) if position > last else None
        if not found:
            return None
        lines[position] = lines[position]._replace(text=f"{found[1]}{json.dumps(found[2])}")
        last = position
    return None


def _merged(lines: list[Line]) -> list[Line]:
    """Return the lines of one side of each conflict. What the other side does not have, too, is unknown."""
    merged: list[Line] = []
    side = ""
    ours: list[Line] = []
    theirs: list[str] = []
    for line in lines:
        mark = _MARK.match(line.text)
        if mark and (side or mark[1] == _OURS):
            side = mark[1]
            if side == _OURS:
                ours, theirs = [], []
            elif side == _END:
                merged += [_in_common(item, theirs) for item in ours]
                side = ""
        elif side == _OURS:
            ours.append(line)
        elif side == _THEIRS:
            theirs.append(line.text)
        elif side != _BASE:
            merged.append(line)
    return merged


def _in_common(line: Line, theirs: list[str]) -> Line:
    """Return a line of one side; with an unknown value if the other side does not have the line, too, and the words that both have."""
    if line.text in theirs:
        return line
    found = _VALUE.match(line.text)
    words = found[2].split() if found else []
    other = next((text for text in theirs if found and text.startswith(found[1])), "").split()
    common = [word for word in words if word in other]
    if found is None or len(words) < 2 or not common:
        return template_outline.unknown(line)
    return line._replace(text=f"{found[1]}{json.dumps(' '.join([*common, UNKNOWN]))}")


def _parse_sound_documents(file: Text, lines: list[Line], problem: Unparsed) -> tuple[Parsed, str] | None:
    """Parse each document by itself, and leave out those that are broken."""
    parts: list[list[Line]] = [[]]
    for line in lines:
        parts = [*parts, []] if _SEPARATOR.match(line.text) else parts
        parts[-1].append(line)
    parsed = [(part, _repaired(file._replace(lines=part))) for part in parts if len(parts) > 1]
    broken = [part[0].number for part, result in parsed if result is None]
    kept = [result for _part, result in parsed if result is not None and result.documents]
    where = ", ".join(map(str, broken))
    return (_joined(kept), f"{problem}; the document from line {where} on was left out") if kept else None


def _joined(parts: list[Parsed]) -> Parsed:
    scopes: dict[str, list[list[int]]] = {}
    for part in parts:
        for name, ranges in part.scopes.items():
            scopes.setdefault(name, []).extend(ranges)
    documents = [document for part in parts for document in part.documents]
    return Parsed(documents, scopes, [inner for part in parts for inner in part.embedded])


def _parse_without_broken_services(file: Text, lines: list[Line], problem: Unparsed) -> tuple[Parsed, str] | None:
    """Parse a Compose file without the broken services that have nothing to do with etcd."""
    start = next((position for position, line in enumerate(lines) if _SERVICES.match(line.text)), None)
    if start is None:
        return None
    blocks = _blocks(lines[start + 1 :])
    broken = [block for block in blocks if _repaired(file._replace(lines=[lines[start], *block])) is None]
    if not broken or any("etcd" in line.text for block in broken for line in block):
        return None
    left_out = {line.number for block in broken for line in block}
    rest = _repaired(file._replace(lines=[line for line in lines if line.number not in left_out]))
    names = ", ".join(block[0].text.strip().rstrip(":") for block in broken)
    return (rest, f"{problem}; the service {names} was left out") if rest else None


def _blocks(lines: list[Line]) -> list[list[Line]]:
    """Return the services, each with its lines, up to the next key that is not indented."""
    blocks: list[list[Line]] = []
    margin = -1
    for line in lines:
        indent = len(line.text) - len(line.text.lstrip())
        if not line.text.strip() or line.text.lstrip().startswith("#"):
            continue
        if indent == 0:
            break
        margin = indent if margin < 0 else margin
        if indent <= margin:
            blocks.append([])
        blocks[-1].append(line)
    return blocks
