# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the fields of a message of protocol buffers without its schema. Pure.

Source: protobuf.dev/programming-guides/encoding. Numbers of fixed size and groups are not supported: etcd's answers have none.
"""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _BYTES = 0, 2
_MAX_VARINT = 10  # bytes of a varint


def fields(
    data: bytes, start: int = 0, end: int | None = None, *, whole: bool = True
) -> Iterator[tuple[int, int, int]]:
    """Yield the fields of the message from ``start`` to before ``end``: (number, value, -1), or (number, start, end) of bytes.

    whole: False if ``end`` may cut the message: a field of bytes that is cut ends there. Raises ValueError for what is not a
    message, and for a number that is cut.
    """
    end = len(data) if end is None else end
    position = start
    while position < end:
        tag, position = _varint(data, position, end)
        value, position = _varint(data, position, end)
        kind = tag & 7
        if kind == _VARINT:
            yield tag >> 3, value, -1
        elif kind == _BYTES and (position + value <= end or not whole):
            yield tag >> 3, position, min(position + value, end)
            position += value
        else:
            raise ValueError(f"no field at byte {position}")


def _varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Return the number at a position and the position after it."""
    if position < end and data[position] < 0x80:
        return data[position], position + 1
    value = 0
    for count, byte in enumerate(data[position : min(end, position + _MAX_VARINT)]):
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value, position + count + 1
    raise ValueError(f"no number at byte {position}")
