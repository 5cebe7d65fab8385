# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the elements of DER data, and the fields of a certificate (RFC 5280, section 4.1). Pure.

Needs the standard library only, because managed hosts may lack cryptography. Malformed data raises ValueError or IndexError.
"""

from __future__ import annotations

from collections.abc import Iterator

_VERSION = 0xA0


def elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of each element of a sequence."""
    position = 0
    while position < len(data):
        tag, length, start = data[position], data[position + 1], position + 2
        if length & 0x80:
            size = length & 0x7F
            length = int.from_bytes(data[start : start + size], "big")
            start += size
        position = start + length
        if position > len(data):
            raise ValueError("it is cut off")
        yield tag, data[start:position]


def first_content(data: bytes) -> bytes:
    """Return the content of the first element, empty without one."""
    return next(elements(data), (0, b""))[1]


def certificate_fields(der: bytes) -> list[tuple[int, bytes]]:
    """Return tag and content of a certificate's fields, without its version: serial number, algorithm, issuer, validity, subject, and so on."""
    return [field for field in elements(first_content(first_content(der))) if field[0] != _VERSION]
