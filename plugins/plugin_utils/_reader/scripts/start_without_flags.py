# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find an etcd that a script starts without any flag: a word that is run, rather than an argument, a pattern or part of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.commands import commands_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import unquote
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.variables import assignments_in
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_SUBSTITUTION = re.compile(r"`[^`]*`|\$\([^()]*\)")
# What may stand before a command: the end of another one, a keyword, a shell's -c or a window of tmux.
_BEGINS = r"(?:^|[;&|!]|(?<!\$)[({]|\b(?:then|do|else)\s|\s-\w*c\s+[\"']|\btmux\s(?:.*\s)?send-keys\s.*?[\"'](?=etcd)|\b(?:tmux|screen)\s.*[\"'](?=\S*/))\s*"
_PREFIX = r"(?:(?:sudo|doas)(?:\s+(?:-[ugh]\s+\S+|-[A-Za-z]+))*|exec|nohup|setsid|time|env|command|\w+=(?:\"[^\"]*\"|'[^']*'|[^\s\"']*))\s+"
_PATH = r"[\"']?(?:[\w.~*@:$+(){}\[\]\"/-]*/)?"
_BARE = re.compile(
    rf"{_BEGINS}(?:{_PREFIX})*{_PATH}etcd(?:\.exe)?[\"']?(?=\s*(?:$|[;&|>)]|[\"']?\$[\w@*{{]|\d>|<(?!<)|\s#|(?:C-m|Enter)\b))"
)
# The rest of a pattern in a `case`, as in etcd|consul)
_PATTERN = re.compile(r"[^($]*\)")
_PROGRAM = re.compile(r"(\S*/)?etcd(\.exe)?$")
# The time of the pattern grows with the square of the length.
_LONGEST = 2_000
_QUOTES = ("'", '"')
# The text of a message, in which (etcd | etcdctl) runs nothing.
_MESSAGE = re.compile(r"\b(echo|printf)((?:\s+-\w+)*)\s+(?:\"[^\"]*\"|'[^']*')")


def is_start(text: str) -> bool:
    """Return whether a command of a script runs etcd without flags."""
    if "etcd" not in text or len(text) > _LONGEST:
        return False
    text = _MESSAGE.sub(r"\1 text", _SUBSTITUTION.sub("$(command)", text))
    for found in _BARE.finditer(text):
        is_pattern = _PATTERN.match(text, found.end()) and "(" not in text[: found.end()]
        if not is_pattern:
            return True
    return False


def programs_of(lines: Iterable[Line]) -> set[str]:
    """Return the variables whose value is always a path of the program, whatever its folder is."""
    values: dict[str, list[str]] = {}
    for one in assignments_in(commands_of(lines)):
        values.setdefault(one.name, []).append(re.sub(r"^\$\{\w+:?[-=](.*)\}$", r"\1", unquote(one.written)))
    return {name for name, texts in values.items() if all(map(_PROGRAM.match, texts))}


def name_program(text: str, programs: Iterable[str]) -> str:
    """Return a command with the program's own name in place of the variable that is run."""
    names = "|".join(sorted(programs))
    if not names or len(text) > _LONGEST:
        return text
    return re.sub(
        rf"({_BEGINS}(?:{_PREFIX})*)[\"']?\$(?:\{{(?:{names})\}}|(?:{names})\b)[\"']?(?=\s|;|$)", r"\1etcd", text
    )


def lines_outside_quotes(lines: Iterable[Line]) -> set[Line]:
    """Return the lines that begin as commands: outside of texts and arrays of several lines. Empty if a quote stays open."""
    found = set()
    quote, depth = "", 0
    for line in lines:
        if not quote and not depth:
            found.add(line)
        quote, depth = _after(line.text, quote, depth)
    return set() if quote else found


def _after(text: str, quote: str, depth: int) -> tuple[str, int]:
    """Return the open quote and the number of open parentheses of arrays after a line."""
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\" and quote != "'":
            position += 1
        elif quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        elif character == "#" and (position == 0 or text[position - 1].isspace()):
            break
        elif character == "(" and (depth or text[position - 1 : position] == "="):
            depth += 1
        elif character == ")" and depth:
            depth -= 1
        position += 1
    return quote, depth
