# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell where a command starts after others that run it, such as env and timeout, and which variables it gets from the words before it."""

from __future__ import annotations

import re
from collections.abc import Iterable

SEPARATOR = re.compile(r".*(;|&&|\|\||\|)$")
# formats.command_line of the policies has the same patterns; tests/policies/test_reader_tables.py compares them.
# A command starts after these words.
RUNS = re.compile(
    r"^([({]?(exec|nohup|nice|ionice|time)|[({]|then|else|do|--|(.*/)?(env|sudo|tini|dumb-init|catatonit)|\w+=.*|.*(;|&&|\|\|))$"
)
# Programs that run a command behind their own options.
WRAPPER = re.compile(
    r"^[({]?(.*/)?(catatonit|chpst|chroot|chrt|doas|dumb-init|env|exec|gosu|ionice|nice|nohup|numactl|runuser|setpriv|setsid|stdbuf|su-exec|sudo"
    r"|taskset|time|timeout|tini)$"
)
# The next word is the name of a user.
BEFORE_USER = re.compile(r"^((.*/)?(gosu|su-exec)|-[uU]|--(user|group|reuid|regid))$")
# An option, a variable, a number or a duration.
ARGUMENT = re.compile(r"^(-.*|\w+=.*|[0-9][\w.:,-]*)$")
# The next word may be a value of its own.
BEFORE_VALUE = re.compile(r"^(-[^=]*|(.*/)?(chroot|gosu|su-exec))$")
# What may stand behind the program.
FOLLOWS = re.compile(r"^(-|$|[;&|<>)]|[0-9]>|\$|\{\{)")
OPENS = re.compile(r"^(if|case|for|while|until)$")
CLOSES = re.compile(r"^(fi|esac|done);?$")
CONDITION = re.compile(r".*(&&|\|\|)$")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_BRANCH = re.compile(r"^(then|else|do)$")


def is_behind_wrapper(words: list[str], position: int) -> bool:
    """Return whether a word is the command that a wrapper runs, as in timeout 60 etcd."""
    if not FOLLOWS.match(words[position + 1] if position + 1 < len(words) else "") or position == 0:
        return False
    if BEFORE_USER.match(words[position - 1]):
        return False
    starts = (start for start in range(position) if WRAPPER.match(words[start]))
    return any(all(_is_argument(words, number) for number in range(start + 1, position)) for start in starts)


def _is_argument(words: list[str], position: int) -> bool:
    """Return whether a word belongs to a wrapper before it, or is another wrapper."""
    return (
        ARGUMENT.match(words[position]) is not None
        or WRAPPER.match(words[position]) is not None
        or BEFORE_VALUE.match(words[position - 1]) is not None
    )


def variables_before(words: list[str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that a command gets from the words before it: those in front of it, and exported ones.

    The value is a placeholder if the export depends on a condition.
    """
    start = max((number + 1 for number, word in enumerate(words) if _ends_command(word)), default=0)
    pairs = [pair for position in range(start) if words[position] == "export" for pair in _exported(words, position)]
    return (*pairs, *_assigned(words[start:]))


def _ends_command(word: str) -> bool:
    return SEPARATOR.match(word) is not None or _BRANCH.match(word) is not None


def _assigned(words: Iterable[str]) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for word in words if (found := _ASSIGNMENT.fullmatch(word))]


def _exported(words: list[str], position: int) -> list[tuple[str, str]]:
    """Return the variables of the export at a position."""
    end = next(number for number in range(position, len(words)) if _ends_command(words[number]))
    # A list of words may have the semicolon at the last of them.
    last = words[end].rstrip(";&|") if not _BRANCH.match(words[end]) else ""
    pairs = _assigned([*words[position + 1 : end], last])
    before, behind = words[:position], words[position:]
    is_chained = any(map(CONDITION.match, before)) and not all(
        CONDITION.match(word) and word.endswith("&&") for word in [*before, *behind] if SEPARATOR.match(word)
    )
    is_certain = sum(map(_depth, before)) <= 0 and not is_chained
    return [(name, value if is_certain else f"${{{name}}}") for name, value in pairs]


def _depth(word: str) -> int:
    return 1 if OPENS.match(word) else -1 if CLOSES.match(word) else 0
