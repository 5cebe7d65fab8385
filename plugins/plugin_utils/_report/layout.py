# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lay out text for a terminal: aligned tables and wrapped sentences."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 100
NONE = "-"

Row = tuple[str, ...]


def table_lines(rows: Sequence[Row], *, wrap_last: bool = False) -> list[str]:
    """Align the columns of a table whose first row is its header.

    Columns are two blanks apart, and columns of sizes are aligned to the right. ``wrap_last`` wraps the last column.
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    right = [all(_is_size(row[column]) for row in rows[1:]) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in zip(row, widths, right)
        ]
        if wrap_last:
            lines += wrap(row[-1], "  " + "  ".join(cells[:-1]) + "  ")
        else:
            lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def wrap(text: str, lead: str) -> list[str]:
    """Wrap a text at WIDTH after ``lead``; indent the lines that follow by the length of ``lead``."""
    width = max(WIDTH, len(lead) + 30)
    return textwrap.wrap(
        text, width, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False
    ) or [lead.rstrip()]


def _is_size(cell: str) -> bool:
    return cell == NONE or cell.endswith(("iB", " B"))
