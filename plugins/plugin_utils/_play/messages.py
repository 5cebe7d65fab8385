# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Join the lines that a task prints into few messages.

A task prints through a queue of the process that runs the play. If the reader of the output ends (``… | head``), that process fails at the
first message and never takes the others, and the task waits forever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby


def messages(lines: Iterable[tuple[str, str | None]]) -> Iterator[tuple[str, str | None]]:
    """Return messages with their colors, from lines with their colors: consecutive lines of one color are one message."""
    for color, group in groupby(lines, key=lambda one: one[1]):
        yield "\n".join(line for line, _color in group), color
