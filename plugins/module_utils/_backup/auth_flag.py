# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disable authentication in the database file of a stopped temporary member.

A restored copy has the users of its cluster, and their certificates and passwords are not at hand. etcd keeps the switch as one byte,
the value of the key authEnabled in the bucket auth. bbolt has checksums in its meta pages only, so that the byte can be overwritten
where it is. Source: server/storage/schema/auth.go of etcd, page.go, bucket.go and db.go of bbolt.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator

_BUCKET, _KEY, _ON, _OFF = b"auth", b"authEnabled", 1, 0

_MAGIC, _VERSION = 0xED0CDAED, 2
_PAGE_HEADER = struct.Struct("<QHHI")  # id, flags, count, overflow
_META = struct.Struct(
    "<IIIIQQQQQ"
)  # magic, version, page size, flags, root page, sequence, freelist, pages, transaction
_CHECKSUM = struct.Struct("<Q")
_BRANCH = struct.Struct("<IIQ")  # position, key size, page
_LEAF = struct.Struct("<IIII")  # flags, position, key size, value size
_BUCKET_HEADER = struct.Struct("<QQ")  # root page (0: the page follows), sequence
_IS_BRANCH = 0x01
_MIN_PAGE_SIZE = 512
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def disable_authentication(path: str) -> bool:
    """Disable authentication in a database that no process uses. Returns whether it was enabled.

    A malformed file stays unchanged: etcd then reports its problem. Raises OSError.
    """
    with open(path, "r+b") as stream:
        try:
            data = mmap.mmap(stream.fileno(), 0)
        except ValueError:  # an empty file
            return False
        with data:
            try:
                position = _find_switch(data)
            except (struct.error, IndexError, RecursionError):
                return False
            if position is None or data[position] != _ON:
                return False
            data[position] = _OFF
            data.flush()
            return True


def _find_switch(data: mmap.mmap) -> int | None:
    """Return the position of the byte, None if the database has none."""
    size, root = _newest_meta(data)
    for _flags, name, at, _length in _leaves(data, size, root * size):
        if name == _BUCKET:
            page, _sequence = _BUCKET_HEADER.unpack_from(data, at)
            first = page * size if page else at + _BUCKET_HEADER.size
            found = (value for _is, key, value, length in _leaves(data, size, first) if key == _KEY and length == 1)
            return next(found, None)
    return None


def _newest_meta(data: mmap.mmap) -> tuple[int, int]:
    """Return the page size and the root page of the newest valid meta page. Raises IndexError without one."""
    found = []
    size = struct.unpack_from("<I", data, _PAGE_HEADER.size + 8)[0]
    for start in (0, size if size >= _MIN_PAGE_SIZE else 0):
        at = start + _PAGE_HEADER.size
        meta = _META.unpack_from(data, at)
        (checksum,) = _CHECKSUM.unpack_from(data, at + _META.size)
        if meta[:2] == (_MAGIC, _VERSION) and checksum == _fnv(data[at : at + _META.size]):
            found.append((meta[8], meta[2], meta[4]))
    _transaction, page_size, root = sorted(found)[-1]
    return page_size, root


def _fnv(data: bytes) -> int:
    """Return the FNV-1a hash in 64 bits, bbolt's checksum."""
    value = _FNV_OFFSET
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return value


def _leaves(data: mmap.mmap, size: int, start: int) -> Iterator[tuple[int, bytes, int, int]]:
    """Yield flags, key, position of the value and its length for each item below the page at ``start``."""
    _id, flags, count, _overflow = _PAGE_HEADER.unpack_from(data, start)
    first = start + _PAGE_HEADER.size
    for number in range(count):
        if flags & _IS_BRANCH:
            _position, _length, page = _BRANCH.unpack_from(data, first + number * _BRANCH.size)
            yield from _leaves(data, size, page * size)
        else:
            at = first + number * _LEAF.size
            kind, position, key_size, value_size = _LEAF.unpack_from(data, at)
            value = at + position + key_size
            yield kind, data[at + position : value], value, value_size
