# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Predict how large a database is after a compaction and a defragmentation. Pure.

A defragmentation copies every revision in order into new pages, filled to 90 %. A leaf takes entries until it reaches that share, and at
least two. Sources: defragdb in server/storage/backend/backend.go of etcd; splitIndex in node.go and page.go of bbolt.
"""

from __future__ import annotations

PAGE = 4096
_THRESHOLD = PAGE * 9 // 10
# A page's header, an entry's header and key on a leaf (16 + 17 bytes for a revision), and on a branch page.
_PAGE_HEADER = 16
_LEAF_ENTRY = 33
_BRANCH_ENTRY = 33
# Pages of other buckets, of the free list and of the two copies of the metadata.
_OTHER_PAGES = 12


def stored_entry(key: int, value: int, revisions: tuple[int, int, int], lease: int) -> int:
    """Return the bytes of a revision in the database: its protocol buffer, and the headers.

    key, value: their lengths. revisions: create_revision, mod_revision and version. lease: its id, 0 for none.
    """
    size = _field(key) + (_field(value) if value else 0)
    numbers = (*revisions, lease) if lease else revisions
    return _LEAF_ENTRY + size + sum(1 + _varint(number) for number in numbers)


def _field(length: int) -> int:
    return 1 + _varint(length) + length


def _varint(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))


class CompactedSize:
    """Adds up the pages of entries in the order in which they are added."""

    def __init__(self) -> None:
        self._pages = 0
        self._leaves = 0
        self._size = _PAGE_HEADER
        self._entries = 0

    def add(self, entry: int) -> None:
        """Add an entry of this many bytes, headers included."""
        if self._entries >= 2 and self._size + entry > _THRESHOLD:
            self._close()
        self._size += entry
        self._entries += 1

    def _close(self) -> None:
        self._pages += -(-self._size // PAGE)
        self._leaves += 1
        self._size, self._entries = _PAGE_HEADER, 0

    @property
    def bytes(self) -> int:
        """The size of the file that would hold all entries so far."""
        open_pages, open_leaf = (-(-self._size // PAGE), 1) if self._entries else (0, 0)
        leaves, branches = self._leaves + open_leaf, 0
        while leaves > 1:
            leaves = -(-leaves * _BRANCH_ENTRY // _THRESHOLD)
            branches += leaves
        return (self._pages + open_pages + branches + _OTHER_PAGES) * PAGE
