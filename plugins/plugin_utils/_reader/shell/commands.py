# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Split the lines of a shell script into commands, and tell which of them run only under a condition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import (
    Line,
    Logical,
    logical_shell_lines,
)

# set -a
_EXPORTS_ALL = re.compile(r"^([-+])[a-zA-Z]*a[a-zA-Z]*$")
# No two alternatives of a repetition match the same text, so that the time stays linear in the length of a line.
_SUBSTITUTION = r"\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`|\$\{(?:[^{}]|\{[^{}]*\})*\}"
_TEMPLATE = r"\{\{.{,500}?\}\}|\{%.{,500}?%\}|<%.{,500}?%>"
_PART = rf"{_TEMPLATE}|{_SUBSTITUTION}|\"(?:{_SUBSTITUTION}|\$(?![({{])|[^\"\\$`]|\\.)*\"|'[^']*'|\\.|[<>]+&?|&>+|[^\s;&|()<>\"'`\\]"
# A quote that stays open takes the rest of the line.
_TOKEN = re.compile(
    rf"(?P<end>;;?|&&|\|\|?|&(?!>)|[()])|(?P<comment>(?<!\S)#.*)|(?P<word>(?:{_PART})+)?(?P<open>[\"'`].*)?"
)
# name() begins a function.
_FUNCTION = re.compile(r"(?<=\w)\s*\(\s*\)")
_ARRAY = re.compile(r"^[A-Za-z_]\w*\+?=$")
_DECLARES = {"export", "readonly", "local", "declare", "typeset"}
_ASSIGNS = re.compile(r"^[A-Za-z_]\w*\+?=")
# In place of a text over several lines.
UNKNOWN = "$(text)"
# Signs of an assignment, an export or a condition. Other lines are not split, which saves most of the time.
_MATTERS = re.compile(
    r"=|;;|(?:^|[;&|()])\s*\.\s|\b(?:export|declare|typeset|set|if|fi|case|esac|else|elif|then|source|eval)\b"
)
# Deeper blocks are taken for words of a text.
_DEEPEST = 50
_OPENS = {"if", "case"}
_CLOSES = {"fi", "esac"}
_BRANCHES = {"else", "elif"}
# A command follows them.
_LEADS = {"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time"}
# No command follows these words.
_LOOPS = {"for", "select", "case"}


class ShellCommand(NamedTuple):
    """The words of one command as they are written, with their quotes.

    is_guarded: a condition is on its line. blocks: the branches of conditions around its line, from the outermost.
    """

    words: tuple[str, ...]
    source: Logical
    is_guarded: bool = False
    blocks: tuple[int, ...] = ()


class _Part(NamedTuple):
    """A command of a line without the keywords before it, and what these do to the blocks."""

    words: tuple[str, ...]
    opens: int
    branches: bool
    closes: int
    end: str


def commands_of(lines: Iterable[Line]) -> list[ShellCommand]:
    """Return the commands of a script in their order."""
    found: list[ShellCommand] = []
    blocks: list[int] = []
    number = 0
    is_balanced = True
    for logical in logical_shell_lines(lines):
        around = tuple(blocks) if is_balanced else ()
        is_plain = not _MATTERS.search(logical.text)
        split = [(tuple(logical.text.split()), "")] if is_plain else _split(logical.text)
        parts = [_without_keywords(words, end) for words, end in split]
        found += [command._replace(blocks=around) for command in _commands_in(parts, logical)]
        for part in parts:
            is_balanced = is_balanced and part.closes <= len(blocks) + part.opens
            number += 1
            if (part.branches or part.end == ";;") and blocks:
                blocks[-1] = number
            blocks += [number] * part.opens
            is_balanced = is_balanced and len(blocks) < _DEEPEST
            del blocks[max(len(blocks) - part.closes, 0) :]
    # A keyword may be a word of a text over several lines. Blocks that do not balance do not count as blocks.
    return found if is_balanced and not blocks else [command._replace(blocks=()) for command in found]


def _without_keywords(words: tuple[str, ...], end: str) -> _Part:
    opens, branches, closes = 0, False, 0
    while words and words[0] in _LEADS | _LOOPS | _CLOSES:
        opens += words[0] in _OPENS
        branches = branches or words[0] in _BRANCHES
        closes += words[0] in _CLOSES
        words = () if words[0] in _LOOPS else words[1:]
    return _Part(words, opens, branches, closes, end)


def _commands_in(parts: list[_Part], source: Logical) -> Iterator[ShellCommand]:
    """Return the commands of a line, without the blocks around the line."""
    depth = subshells = 0
    is_branch = False
    is_chain = True
    end = ""
    for part in parts:
        depth += part.opens - part.closes
        # A branch of a condition that a former line began.
        is_branch = (is_branch or part.branches) and not part.closes
        follows = end in ("&&", "||", "|")
        is_chained = follows and not (is_chain and end == "&&")
        if part.words:
            yield ShellCommand(part.words, source, depth > 0 or is_branch or is_chained or subshells > 0)
            is_chain = (is_chain or not follows) and _only_assigns(part.words)
        if part.end == "(":
            subshells += 1
        elif part.end == ")":
            # Without an opening parenthesis, it ends a pattern of a `case`.
            is_branch = is_branch or not subshells
            subshells = max(subshells - 1, 0)
        end = part.end


def _only_assigns(words: tuple[str, ...]) -> bool:
    return words[0] in _DECLARES or all(map(_ASSIGNS.match, words))


def _split(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Return the words of each command, and the operator behind it. The elements of an array are left out."""
    words: list[str] = []
    in_array = False
    for token in _TOKEN.finditer(_FUNCTION.sub(" ; ", text)):
        if in_array:
            in_array = token["end"] != ")"
        elif token["end"] == "(" and words and _ARRAY.match(words[-1]):
            in_array = True
            words[-1] += "()"
        elif token["end"]:
            yield tuple(words), token["end"]
            words = []
        elif token["word"] or token["open"]:
            words.append((token["word"] or "") + (UNKNOWN if token["open"] else ""))
    yield tuple(words), ""


def exports_all(words: Sequence[str], before: bool) -> bool:
    """Return whether a shell exports each variable that it sets after ``set`` with these arguments. before: whether it did so before."""
    signs = [match[1] for word in words if (match := _EXPORTS_ALL.match(word))]
    signs += [word[0] for word, name in zip(words, words[1:]) if word in ("-o", "+o") and name == "allexport"]
    return signs[-1] == "-" if signs else before
