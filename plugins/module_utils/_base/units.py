# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse and format sizes and counts. Pure: bad input raises ValueError."""

from __future__ import annotations

import re
from typing import Any

MIB, GIB = 1 << 20, 1 << 30  # bytes
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

# The unit's power of 1024 by its first letter: KB, K and KiB are all 1024, as in Ansible's human_to_bytes.
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_SIZE = re.compile(r"(0|[1-9][0-9]{0,17})(?:\.([0-9]{1,9}))?\s*([KMGTP]?)(?:I?B)?", re.IGNORECASE)
_COUNT = re.compile(r"-?(0|[1-9][0-9]{0,17})")


def _whole_number(value: Any) -> int | None:
    """Return an int, or a float without a fraction, as an int; None for anything else."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def parse_size(value: Any, name: str) -> int:
    """Return a size in bytes.

    value: a whole number (Jinja and JSON may write it as 50.0), or text such as "100KB", "100K", "100KiB", "1.5MB", "4096"
        (1 KB = 1024 bytes; fractions of a byte are dropped).
    name: the variable, for the message.
    Raises ValueError for anything else, negative numbers included.
    """
    number = _whole_number(value)
    if number is not None:
        if number >= 0:
            return number
    elif isinstance(value, str):
        match = _SIZE.fullmatch(value.strip())
        if match is not None:
            whole, fraction, unit = match.groups()
            scale = 1 << (10 * _POWERS[unit.upper()])
            parts: int = int(fraction or "0") * scale // 10 ** len(fraction or "")
            return int(whole) * scale + parts
    raise ValueError(
        f"{name} is {value!r}, which is not a valid size: write bytes or a unit, for example 4096, 100KB or 1.5MB"
    )


def parse_count(value: Any, name: str) -> int:
    """Return an integer that is given as a whole number or as text. Raises ValueError."""
    number = _whole_number(value)
    if number is not None:
        return number
    if isinstance(value, str) and _COUNT.fullmatch(value.strip()):
        return int(value)
    raise ValueError(f"{name} is {value!r}, which is not a whole number")


def format_size(size: int) -> str:
    """Return a size as text with one decimal, rounded half up: 1.9 GiB, 640 B."""
    unit = 0
    while unit + 1 < len(UNITS) and size >= 1 << (10 * (unit + 1)):
        unit += 1
    if unit == 0:
        return f"{size} B"
    scale = 1 << (10 * unit)
    tenths = (size * 10 + scale // 2) // scale
    return f"{tenths // 10}.{tenths % 10} {UNITS[unit]}"


def format_sizes_distinctly(first: int, second: int) -> tuple[str, str]:
    """Return two sizes as text; in bytes if two different sizes would look the same when rounded."""
    texts = format_size(first), format_size(second)
    if first != second and texts[0] == texts[1]:
        return f"{format_count(first)} bytes", f"{format_count(second)} bytes"
    return texts


def round_up(size: int) -> int:
    """Round a size up to one that format_size writes exactly, so that it can be typed again."""
    unit = 0
    while unit + 1 < len(UNITS) and size > (1 << (10 * (unit + 1))) - (1 << (10 * unit)):
        unit += 1
    scale = 1 << (10 * unit)
    return -(-size * 10 // scale) * scale // 10


def pluralize(number: int, noun: str) -> str:
    """Return a number with its noun: "1 denial", "2 denials"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_count(count: int) -> str:
    """Return a number as text with thousands separators: 12,600."""
    return f"{count:,}"
