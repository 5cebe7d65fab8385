# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the buckets of a member's database. Private to the collection.

Files are opened with buffering=0, so that each read sees what etcd has written. Source: page.go, bucket.go and db.go of go.etcd.io/bbolt.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from io import FileIO
from typing import NamedTuple

_MAGIC, _VERSION = 0xED0CDAED, 2
_PAGE = struct.Struct("<QHHI")  # id, flags, count, overflow
_META = struct.Struct("<IIIIQQQQQ")  # magic, version, page size, flags, root, sequence, free list, pages, transaction
_CHECKSUM = struct.Struct("<Q")
_BRANCH = struct.Struct("<IIQ")  # position, key size, page
_LEAF = struct.Struct("<IIII")  # flags, position, key size, value size
_BUCKET = struct.Struct("<QQ")  # root page, sequence; root 0: the page follows
_IS_BRANCH, _IS_LEAF = 1, 2
_MIN_PAGE_SIZE = 512
# More pages than the largest value needs, and more levels than any database has.
_MAX_OVERFLOW, _MAX_DEPTH = 1024, 64
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def database_path(data_dir: str) -> str:
    """Return the path of the database in a member's data dir."""
    return os.path.join(data_dir, "member", "snap", "db")


class FormatError(ValueError):
    """A file that is not a database, or that ends too early; the message says why."""


class Meta(NamedTuple):
    """What a meta page says: of two, the one with the newer transaction counts."""

    transaction: int
    page_size: int
    root: int


class Item(NamedTuple):
    """A key with its value, and the position of the value in the file."""

    key: bytes
    value: bytes
    position: int


def newest_meta(database: FileIO) -> Meta:
    """Return the newest valid meta page. Raises FormatError without one."""
    _magic, _version, size, *_rest = _META.unpack(_read(database, _PAGE.size, _META.size))
    found = [_parse_meta(database, start) for start in (0, max(size, _MIN_PAGE_SIZE))]
    valid = [meta for meta in found if meta is not None]
    if not valid:
        raise FormatError("not a database of etcd")
    return max(valid)


def items(database: FileIO, meta: Meta, bucket: bytes) -> Iterator[Item]:
    """Yield the items of a bucket, and nothing if the bucket does not exist. Raises FormatError."""
    for item in _tree(database, meta.page_size, meta.root, 0):
        if item.key == bucket:
            if len(item.value) < _BUCKET.size:
                raise FormatError(f"the bucket {bucket.decode()} has no header")
            page, _sequence = _BUCKET.unpack_from(item.value)
            if page:
                yield from _tree(database, meta.page_size, page, 0)
            else:
                inline = item.value[_BUCKET.size :]
                yield from _page_items(database, meta.page_size, inline, item.position + _BUCKET.size, 0)


def checksum(data: bytes) -> int:
    """Return bbolt's checksum of a meta page: the FNV-1a hash in 64 bits."""
    value = _FNV_OFFSET
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return value


def _parse_meta(database: FileIO, start: int) -> Meta | None:
    """Return a meta page, None if it is not valid: bbolt then uses the other one."""
    data = _read(database, start + _PAGE.size, _META.size + _CHECKSUM.size)
    magic, version, size, _flags, root, _sequence, _free, _pages, transaction = _META.unpack_from(data)
    (stored,) = _CHECKSUM.unpack_from(data, _META.size)
    if (magic, version) != (_MAGIC, _VERSION) or size < _MIN_PAGE_SIZE or stored != checksum(data[: _META.size]):
        return None
    return Meta(transaction, size, root)


def _tree(database: FileIO, size: int, number: int, depth: int) -> Iterator[Item]:
    """Yield the items below a page. depth: how many pages are above it."""
    if depth > _MAX_DEPTH:
        raise FormatError(f"page {number} is below more than {_MAX_DEPTH} others")
    content = _read(database, number * size, size)
    overflow = _PAGE.unpack_from(content)[3]
    if overflow > _MAX_OVERFLOW:
        raise FormatError(f"page {number} has {overflow} more")
    content += _read(database, (number + 1) * size, overflow * size)
    yield from _page_items(database, size, content, number * size, depth)


def _page_items(database: FileIO, size: int, page: bytes, position: int, depth: int) -> Iterator[Item]:
    """Yield the items of a page and below it. position: of the page in the file."""
    _number, flags, count, _overflow = _unpack(_PAGE, page, 0)
    for index in range(count):
        if flags & _IS_BRANCH:
            _offset, _key, child = _unpack(_BRANCH, page, _PAGE.size + index * _BRANCH.size)
            yield from _tree(database, size, child, depth + 1)
        elif flags & _IS_LEAF:
            at = _PAGE.size + index * _LEAF.size
            _flags, offset, key_size, value_size = _unpack(_LEAF, page, at)
            start = at + offset
            middle, end = start + key_size, start + key_size + value_size
            yield Item(page[start:middle], page[middle:end], position + middle)
        else:
            raise FormatError(f"page of unknown kind {flags}")


def _unpack(form: struct.Struct, page: bytes, at: int) -> tuple[int, ...]:
    if at + form.size > len(page):
        raise FormatError("it is shorter than its pages")
    return form.unpack_from(page, at)


def _read(database: FileIO, at: int, size: int) -> bytes:
    database.seek(at)
    content = database.read(size)
    if len(content) < size:
        raise FormatError("it is shorter than its pages")
    return content
