# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of a file that keep their numbers, and the error that a reader raises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Unparsed(ValueError):
    """A file that seems to configure etcd, but cannot be parsed. The message is the reason, with a line where one is known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


class Line(NamedTuple):
    """One line of a file."""

    path: str
    number: int
    text: str


class Logical(NamedTuple):
    """A line with its continuation lines: the joined text and the lines that it was made of."""

    text: str
    lines: tuple[Line, ...]

    def position(self, word: str) -> tuple[str, int]:
        """Return path and line of a word; of the first line if the word is not found as it is."""
        found = [line for line in self.lines if word in line.text]
        line = (found or self.lines)[0]
        return line.path, line.number


def lines_of(path: str, text: str, first: int = 1) -> list[Line]:
    """Return the lines of a text whose first line has number ``first`` in its file."""
    return [Line(path, number, line) for number, line in enumerate(text.splitlines(), first)]


def logical_lines(lines: Iterable[Line], comments: str = "#;", between: str = " ") -> Iterator[Logical]:
    """Join lines that end in a backslash. Leave out empty lines and comments, also those between continuation lines, as systemd does.

    between: what stands for the end of a line. systemd puts a blank there; a shell nothing, but keeps the indent of the next line.
    """
    collected: list[Line] = []
    for line in lines:
        stripped = line.text.strip()
        if stripped[:1] in tuple(comments) and stripped:
            continue
        collected.append(line)
        if stripped.endswith("\\"):
            continue
        if stripped or len(collected) > 1:
            yield _joined(collected, between)
        collected = []
    if collected:
        yield _joined(collected, between)


def logical_shell_lines(lines: Iterable[Line]) -> Iterator[Logical]:
    """Join the lines of a shell's commands that end in a backslash."""
    return logical_lines(lines, comments="#", between="")


def _joined(lines: list[Line], between: str) -> Logical:
    texts = [re.sub(r"\\\s*$", "", line.text) for line in lines]
    return Logical(between.join(text.strip() if between else text for text in texts).strip(), tuple(lines))
