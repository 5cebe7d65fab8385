# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the variables of a shell script whose values are known, the arguments that it collects in them, and those that it exports."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import expand
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.commands import (
    ShellCommand,
    commands_of,
    exports_all,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import Variable, unquote
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

# A word NAME=value or NAME+=value
_WORD = re.compile(r"^([A-Za-z_]\w*)(\+?)=(.*)$", re.DOTALL)
_NAME = re.compile(r"^[A-Za-z_]\w*$")
_DECLARES = {"export", "readonly", "local", "declare", "typeset"}
# : ${NAME:=value}
_DEFAULT = re.compile(r"^\"?\$\{(\w+):?=([^{}]*)\}\"?$")
# for NAME in … and read NAME
_CHANGES = re.compile(r"^\s*(?:for\s+(\w+)\s+in\b|(?:while\s+)?(?:IFS=\S*\s+)?read\s+(?:-\w+\s+)*(\w+))")
_VARIABLE = re.compile(r"(?<!\\)\$(?:\{(\w+)(?::?[-=]([^{}$`]*))?\}|(\w+))")
# NAME="…", NAME="$NAME …" and NAME+=" …"
_COLLECTS = re.compile(r"^(\s*)(?:export\s+|local\s+)?([A-Za-z_]\w*)(\+?)=(\"[^\"]*\"|'[^']*')\s*$")
# NAME=(…) and NAME+=(…)
_ARRAY = re.compile(
    r"^([ \t]*)(?:local\s+|readonly\s+|(?:declare|typeset)\s+-\w+\s+)?([A-Za-z_]\w*)(\+?)=\(", re.MULTILINE
)
# A quoted text, a command substitution, a comment, or the end of an array.
# Several references that the script leaves to whoever reads the file that it writes.
_REFERENCES = re.compile(r"^\"\s*(?:\\\$(?:\{\w+\}|\w+)(?:\s|\\(?!\$))*){2,}\"$")
_REFERENCE = re.compile(r"\$(?:\{\w+\}|\w+)")
_ATOM = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\$?\([^()]*\)|(?<!\S)#[^\n]*|\)")
_LONGEST_ARRAY, _MOST_ARRAYS = 10_000, 200


class _Step(NamedTuple):
    """One assignment of a variable that collects arguments."""

    indent: str
    extends: bool
    text: str


class Array(NamedTuple):
    """An array with the steps in which the script fills it. inner: the lines below those that begin a step."""

    name: str
    steps: tuple[_Step, ...]
    inner: tuple[Line, ...]

    def text(self, is_open_ended: bool) -> str:
        """Return the elements that are certain, and the array itself as a placeholder for others."""
        first = self.steps[0]
        certain = [step.text for step in self.steps if step.indent == first.indent]
        is_known = not first.extends and len(certain) == len(self.steps) and not is_open_ended
        elements = [] if first.extends else certain if is_known else [first.text]
        return " ".join(filter(None, [*elements, "" if is_known else f"${{{self.name}[@]}}"]))


class Assignment(NamedTuple):
    """One assignment of a variable, with its value as it is written.

    extends: it adds to the value. is_exported: at once, rather than later by its name.
    """

    name: str
    written: str
    extends: bool
    is_exported: bool
    command: ShellCommand


def constants_of(lines: list[Line]) -> dict[str, str]:
    """Return the variables that the script sets once, to a text without substitutions, or to a default."""
    assignments = assignments_in(commands_of(lines))
    times = Counter(one.name for one in assignments)
    times.update(name for line in lines if (name := _changed(line.text)))
    constants: dict[str, str] = {}
    # In the order of the script, so that a constant may consist of earlier ones.
    for one in assignments:
        if times[one.name] == 1 and not one.extends and not one.command.is_guarded and _REFERENCES.match(one.written):
            # A here-document expands it to references for the file, perhaps over several lines of a unit.
            constants[one.name] = " ".join(_REFERENCE.findall(one.written))
            continue
        value = filled(unquote(one.written), constants)
        is_certain = times[one.name] == 1 and not one.extends and not one.command.is_guarded
        # A command that is quoted over several lines is read where it is written, so that findings name these lines.
        is_certain = is_certain and any(one.written in line.text for line in one.command.source.lines)
        if is_certain and value and not _is_array(value) and not _is_open(one.name, value):
            constants[one.name] = value
    return {**constants, **_arguments(lines, assignments, constants)}


def assignments_in(commands: Iterable[ShellCommand]) -> list[Assignment]:
    """Return the assignments of a script in their order. One before another command is only for that command."""
    found: list[Assignment] = []
    is_exporting = False
    for command in commands:
        first, *words = command.words
        if first == "set":
            is_exporting = exports_all(words, is_exporting)
        elif first == ":" and len(words) == 1 and (default := _DEFAULT.match(words[0])):
            found.append(Assignment(default[1], default[2], False, is_exporting, command))
        elif first in _DECLARES or all(map(_WORD.match, command.words)):
            exports = is_exporting or _exports(command.words)
            pairs = [match for word in command.words if (match := _WORD.match(word))]
            found += [Assignment(pair[1], pair[3], bool(pair[2]), exports, command) for pair in pairs]
    return found


def _exports(words: Sequence[str]) -> bool:
    """Return whether a command exports variables: export, or declare -x."""
    is_marked = any(re.match(r"^-[a-zA-Z]*x", word) for word in words[1:])
    return words[0] == "export" or (words[0] in ("declare", "typeset", "local") and is_marked)


def _is_array(value: str) -> bool:
    return value == "()"


def _is_open(name: str, value: str) -> bool:
    """Return whether a value has parts that are not known. A URL may have other variables, such as one for its host."""
    if "://" not in value:
        return re.search(r"[$`]", value) is not None
    return re.search(rf"`|\$[^{{A-Za-z_]|\$\{{?{name}\b", value) is not None


def _changed(text: str) -> str:
    """Return the variable that a line reads or sets in turn; empty for other lines."""
    found = _CHANGES.match(text)
    return next(filter(None, found.groups())) if found else ""


def filled(text: str, constants: dict[str, str]) -> str:
    """Replace the variables in a text that are constants, and others by the default beside their name."""
    return _VARIABLE.sub(lambda found: constants.get(found[1] or found[3], found[2] or found[0]), text)


def _arguments(lines: list[Line], assignments: list[Assignment], constants: dict[str, str]) -> dict[str, str]:
    """Return the arguments that a script collects, by the name of the variable or the array."""
    guarded = {one.name for one in assignments if one.command.is_guarded}
    blocks = {one.name: one.command.blocks for one in reversed(assignments)}
    # Elements that are added under a condition are unknown.
    open_ended = {one.name for one in assignments if one.extends and one.command.blocks != blocks[one.name]} | guarded
    appended = {name: text for name, text in _appended(lines).items() if name not in guarded}
    arrays = {array.name: array.text(array.name in open_ended) for array in arrays_in(lines)}
    collected = {name: filled(text, constants) for name, text in {**appended, **arrays}.items()}
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


def arrays_in(lines: list[Line]) -> list[Array]:
    """Return the arrays of a script. Each NAME=(…) replaces the former one of its name."""
    text = "\n".join(line.text for line in lines)
    starts = list(accumulate((len(line.text) + 1 for line in lines), initial=0))
    arrays: dict[str, Array] = {}
    for found in islice(_ARRAY.finditer(text), _MOST_ARRAYS):
        indent, name, plus = found.groups()
        body, end = _body(text, found.end())
        first, last = (bisect_right(starts, position) - 1 for position in (found.start(2), end))
        former = arrays.get(name) if plus else None
        steps = (*(former.steps if former else ()), _Step(indent, bool(plus), body))
        inner = (*(former.inner if former else ()), *lines[first + 1 : last + 1])
        arrays[name] = Array(name, steps, inner)
    return list(arrays.values())


def _body(text: str, start: int) -> tuple[str, int]:
    """Return the elements of an array on one line, and where its closing parenthesis is; an empty text without one."""
    kept, position = [], start
    for atom in _ATOM.finditer(text, start, start + _LONGEST_ARRAY):
        kept.append(text[position : atom.start()])
        if atom[0] == ")":
            return " ".join("".join(kept).split()), atom.start()
        kept.append("" if atom[0].startswith("#") else atom[0])
        position = atom.end()
    return "", start


def expand_line(line: Line, constants: dict[str, str]) -> Line:
    """Expand a line of a here-document whose delimiter is not quoted."""
    text = filled(line.text, constants)
    return line._replace(text=re.sub(r"\\\\(\s*)$", r"\\\1", text).replace("\\$", "$"))


def exported_variables(own: list[Line], start: Line | None = None) -> list[Variable]:
    """Return the variables that a script exports, at once or later by their names, with its constants filled in.

    The value is a placeholder if the script exports a name to which it gives no value, or sets it under a condition in which the
    line ``start`` is not.
    """
    constants = constants_of(own)
    commands = commands_of(own)
    assignments = assignments_in(commands)
    blocks = next((command.blocks for command in commands if command.source.lines[0] == start), ())
    named = {
        word: command
        for command in commands
        if _exports(command.words)
        for word in command.words[1:]
        if _NAME.match(word)
    }
    given = {one.name for one in assignments}
    inherited = [_variable(name, f"${{{name}}}", command) for name, command in named.items() if name not in given]
    return inherited + [
        _variable(one.name, f"${{{one.name}}}" if _may_differ(one, blocks) else _value(one, constants), one.command)
        for one in assignments
        if one.is_exported or one.name in named
    ]


def _may_differ(one: Assignment, blocks: tuple[int, ...]) -> bool:
    """Return whether the value is another one in these blocks, because the assignment depends on a condition or extends a value."""
    around = one.command.blocks
    return one.command.is_guarded or one.extends or blocks[: len(around)] != around


def _value(one: Assignment, constants: dict[str, str]) -> str:
    return " ".join(expand([unquote(one.written)], constants))


def _variable(name: str, value: str, command: ShellCommand) -> Variable:
    return Variable(name, re.sub(r"`[^`]*`", "$(command)", value), *command.source.position(name))
