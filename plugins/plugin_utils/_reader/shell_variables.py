# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the variables of a shell script whose values are known, the arguments that it collects in them, and those that it exports."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.command_line import expand
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.environment import Variable, unquote
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.source import Line

_ASSIGNMENT = re.compile(
    r"^\s*(export\s+|readonly\s+|local\s+|(?:declare|typeset)\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|]*)\s*(?:$|;|&&|#)"
)
# : ${NAME:=value}
_DEFAULT = re.compile(r"^\s*:\s+\"?\$\{(\w+):?=([^{}]*)\}\"?\s*$")
# NAME+=…, for NAME in … and read NAME
_CHANGES = re.compile(r"^\s*(?:(\w+)\+=|for\s+(\w+)\s+in\b|(?:while\s+)?(?:IFS=\S*\s+)?read\s+(?:-\w+\s+)*(\w+))")
# export NAME NAME
_EXPORTS = re.compile(r"^\s*export((?:\s+[A-Za-z_]\w*)+)\s*$")
_VARIABLE = re.compile(r"(?<!\\)\$(?:\{(\w+)(?::?[-=]([^{}$`]*))?\}|(\w+))")
# NAME="…", NAME="$NAME …" and NAME+=" …"
_COLLECTS = re.compile(r"^(\s*)(?:export\s+|local\s+)?([A-Za-z_]\w*)(\+?)=(\"[^\"]*\"|'[^']*')\s*$")
_ARRAY = re.compile(r"^\s*(?:local\s+|readonly\s+|(?:declare|typeset)\s+-\w+\s+)?([A-Za-z_]\w*)=\(", re.MULTILINE)
# A quoted text, a command substitution, a comment, or the end of an array.
_ATOM = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\$?\([^()]*\)|(?<!\S)#[^\n]*|\)")
_LONGEST_ARRAY, _MOST_ARRAYS = 10_000, 200


class _Step(NamedTuple):
    """One assignment of a variable that collects arguments."""

    indent: str
    extends: bool
    text: str


def constants_of(lines: list[Line]) -> dict[str, str]:
    """Return the variables that the script sets once, to a text without substitutions, or to a default."""
    assignments = [pair for line in lines if (pair := assigned(line.text))]
    times = Counter(name for name, _value in assignments)
    times.update(name for line in lines if (name := _changed(line.text)))
    constants: dict[str, str] = {}
    # In the order of the script, so that a constant may consist of earlier ones.
    for name, written in assignments:
        value = filled(unquote(written), constants)
        if times[name] == 1 and value and not _is_open(name, value):
            constants[name] = value
    return {**constants, **_arguments(lines, constants)}


def assigned(text: str) -> tuple[str, str] | None:
    """Return the variable that a line sets, and its value as it is written."""
    found = _ASSIGNMENT.match(text)
    default = None if found else _DEFAULT.match(text)
    return (found[2], found[3]) if found else (default[1], default[2]) if default else None


def _is_open(name: str, value: str) -> bool:
    """Tell whether a value has parts that are not known. A URL may have other variables, such as one for its host."""
    if "://" not in value:
        return re.search(r"[$`]", value) is not None
    return re.search(rf"`|\$[^{{A-Za-z_]|\$\{{?{name}\b", value) is not None


def _changed(text: str) -> str:
    """Return the variable that a line extends, reads or sets in turn; empty for other lines."""
    found = _CHANGES.match(text)
    return next(filter(None, found.groups())) if found else ""


def filled(text: str, constants: dict[str, str]) -> str:
    """Replace the variables in a text that are constants, and others by the default beside their name."""
    return _VARIABLE.sub(lambda found: constants.get(found[1] or found[3], found[2] or found[0]), text)


def _arguments(lines: list[Line], constants: dict[str, str]) -> dict[str, str]:
    """Return the arguments that a script collects, by the name of the variable or the array."""
    collected = {name: filled(text, constants) for name, text in {**_appended(lines), **_arrays(lines)}.items()}
    return {name: text for name, text in collected.items() if re.search(r"(^|\s)--?[a-z]", text)}


def _appended(lines: list[Line]) -> dict[str, str]:
    """Return the variables that are set once and then extended, all at one indentation, because words added under a condition are unknown."""
    steps: dict[str, list[_Step]] = {}
    for line in lines:
        found = _COLLECTS.match(line.text)
        if found:
            indent, name, plus, quoted = found.groups()
            value = unquote(quoted)
            added = re.sub(rf"^\$\{{?{name}\b\}}?", "", value)
            steps.setdefault(name, []).append(_Step(indent, bool(plus) or added != value, added))
    return {
        name: " ".join(step.text for step in [first, *more])
        for name, (first, *more) in steps.items()
        if more and [step.extends for step in (first, *more)] == [False] + [True] * len(more)
        if all(step.indent == first.indent for step in more)
    }


def _arrays(lines: list[Line]) -> dict[str, str]:
    """Return the elements of arrays, without comments."""
    text = "\n".join(line.text for line in lines)
    bodies = ((found[1], _body(text, found.end())) for found in islice(_ARRAY.finditer(text), _MOST_ARRAYS))
    return {name: body for name, body in bodies if body}


def _body(text: str, start: int) -> str:
    """Return the elements of an array up to its closing parenthesis, on one line; empty without one."""
    kept, position = [], start
    for atom in _ATOM.finditer(text, start, start + _LONGEST_ARRAY):
        kept.append(text[position : atom.start()])
        if atom[0] == ")":
            return " ".join("".join(kept).split())
        kept.append("" if atom[0].startswith("#") else atom[0])
        position = atom.end()
    return ""


def expand_line(line: Line, constants: dict[str, str]) -> Line:
    """Expand a line of a here-document whose delimiter is not quoted."""
    text = filled(line.text, constants)
    return line._replace(text=re.sub(r"\\\\$", r"\\", text).replace("\\$", "$"))


def exported_variables(own: list[Line]) -> list[Variable]:
    """Return the variables that a script exports, at once or later by their names, with its constants filled in."""
    constants = constants_of(own)
    later = {name for line in own if (found := _EXPORTS.match(line.text)) for name in found[1].split()}
    return [
        Variable(pair[0], " ".join(expand([unquote(pair[1])], constants)), line.path, line.number)
        for line in own
        if (pair := assigned(line.text)) and (line.text.lstrip().startswith("export") or pair[0] in later)
    ]
