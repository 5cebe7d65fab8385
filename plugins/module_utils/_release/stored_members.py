# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the members stored in a member's database, and compare them with the cluster's member list.

etcd 3.5 answers from its v2 store and 3.6 from its database. Members that were removed long ago may still be in the database, and come back
with 3.6 ("zombie members"). Source: https://etcd.io/blog/2025/zombie_members_upgrade/ and bbolt's file format (page.go, db.go).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster

_MAGIC = 0xED0CDAED
_PAGE = struct.Struct("<QHHI")  # id, flags, count, overflow
_META = struct.Struct("<IIIIQQQQQ")  # magic, version, page size, flags, root, sequence, free list, pages, transaction
_LEAF = struct.Struct("<IIII")  # flags, position, key size, value size
_BRANCH = struct.Struct("<IIQ")  # position, key size, page
_BUCKET = struct.Struct("<QQ")  # root page, sequence; root 0: the page follows
_IS_BRANCH, _IS_LEAF = 1, 2
# Number of attempts if etcd writes during a read.
_ATTEMPTS = 20


class DatabaseError(ValueError):
    """The database cannot be read; the text says why."""


def read_members(path: Path) -> dict[str, dict[str, Any]]:
    """Return the members in a database by their id, also while etcd writes to it. Raises DatabaseError."""
    problem = ""
    for _attempt in range(_ATTEMPTS):
        try:
            with path.open("rb") as database:
                before = _newest_meta(database)
                found = {key.decode(): value for key, value in _items(database, before, b"members")}
                # Pages are used again two transactions later at the earliest.
                if _newest_meta(database)[2] - before[2] <= 1:
                    return {key: json.loads(value) for key, value in found.items()}
                problem = "etcd writes all the time"
        except (OSError, ValueError, struct.error) as error:
            problem = str(error)
    raise DatabaseError(f"{path}: {problem}")


def stored_problems(stored: Mapping[str, Mapping[str, Any]], cluster: Cluster) -> list[str]:
    """Return how the members in a database differ from those that the cluster lists."""
    listed = {member.id: member for member in cluster.members}
    problems = []
    for key in sorted(stored.keys() - listed.keys()):
        name = stored[key].get("name") or "without a name"
        problems.append(
            f"its database still holds member {key} ({name}), which the cluster does not list, and which would come back: restart "
            "the members with 3.5.26 or later, and wait until they are healthy"
        )
    for key in sorted(listed.keys() & stored.keys()):
        if bool(stored[key].get("isLearner")) != (listed[key].role == "learner"):
            problems.append(
                f"its database and the cluster disagree on whether {listed[key].name} is a learner: restart the members with "
                "3.5.24 or later, and wait until they are healthy"
            )
    missing = ", ".join(listed[key].name or key for key in sorted(listed.keys() - stored.keys()))
    if missing:
        problems.append(f"its database lacks {missing}, which the cluster lists: rebuild this member")
    return problems


def _newest_meta(database: BinaryIO) -> tuple[int, int, int]:
    """Return the page size, the root page and the transaction of the newest meta page."""
    found = []
    first = _read(database, 0, 4096)
    magic, _version, size, *_rest = _META.unpack_from(first, _PAGE.size)
    if magic != _MAGIC:
        raise DatabaseError("not a database of etcd")
    for number in (0, 1):
        content = first if number == 0 else _read(database, size, 4096)
        magic, _version, size_, _flags, root, _sequence, _free, _pages, transaction = _META.unpack_from(
            content, _PAGE.size
        )
        if magic == _MAGIC:
            found.append((transaction, size_, root))
    transaction, size, root = max(found)
    return size, root, transaction


def _items(database: BinaryIO, meta: tuple[int, int, int], bucket: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a bucket."""
    size, root, _transaction = meta
    for key, value in _page_items(database, size, _page(database, size, root)):
        if key == bucket:
            page, _sequence = _BUCKET.unpack_from(value)
            yield from _page_items(database, size, _page(database, size, page) if page else value[_BUCKET.size :])


def _page_items(database: BinaryIO, size: int, page: bytes) -> Iterator[tuple[bytes, bytes]]:
    _number, flags, count, _overflow = _PAGE.unpack_from(page)
    for index in range(count):
        if flags & _IS_BRANCH:
            _position, _key, child = _BRANCH.unpack_from(page, _PAGE.size + index * _BRANCH.size)
            yield from _page_items(database, size, _page(database, size, child))
        elif flags & _IS_LEAF:
            at = _PAGE.size + index * _LEAF.size
            _flags, position, key_size, value_size = _LEAF.unpack_from(page, at)
            start = at + position
            yield page[start : start + key_size], page[start + key_size : start + key_size + value_size]
        else:
            raise DatabaseError(f"page of unknown kind {flags}")


def _page(database: BinaryIO, size: int, number: int) -> bytes:
    content = _read(database, number * size, size)
    overflow = _PAGE.unpack_from(content)[3]
    if overflow > 1024:
        raise DatabaseError(f"page {number} has {overflow} more")
    return content + (_read(database, (number + 1) * size, overflow * size) if overflow else b"")


def _read(database: BinaryIO, at: int, size: int) -> bytes:
    database.seek(at)
    content = database.read(size)
    if len(content) < size:
        raise DatabaseError("it is shorter than its pages")
    return content
