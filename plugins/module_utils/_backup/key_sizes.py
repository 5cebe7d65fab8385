# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose how many keys one request may list, from the sizes of the entries in a restored backup.

A member before 3.7 reads each key's value into memory, even if only keys were requested; later ones take keys from their index. Source:
rangeKeys in server/storage/mvcc/kvstore_txn.go, and the pull request 21791 in etcd's CHANGELOG-3.7.md.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping

from ansible_collections.etcdops.headroom.plugins.module_utils._base import protobuf
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt

# Bytes that one request makes a member read, if its keys have the sizes that they have in the backup.
PAGE_BYTES = 8 << 20
# With etcd's largest values, this many keys are 750 MiB: the most that a request reads if all were written since the backup.
_KEYS_WITH_VALUES = 500
_KEYS_WITHOUT_VALUES = 2000
# etcd's default of max_request_bytes, the largest value that it accepts.
_MAX_VALUE = 3 << 19
# How many large entries to remember: about 10 MB.
_MAX_LARGE = 50_000
_BUCKET = b"key"
_KEY_FIELD = 1  # the field of a KeyValue in api/mvccpb/kv.proto
_CLOCK_INTERVAL = 10_000


class KeySizes:
    """The large entries of a database. Every other entry has at most ``small`` bytes."""

    def __init__(self, most_keys: int, small: int, large: Mapping[bytes, int]) -> None:
        self._most_keys = most_keys
        self._small = small
        self._keys = sorted(large)
        self._sizes = [large[key] for key in self._keys]

    def page(self, start: bytes) -> tuple[int, bytes | None]:
        """Return how many keys to request from ``start`` on, and the key before which to end (None: the last one)."""
        first = last = bisect.bisect_left(self._keys, start)
        if first == len(self._keys):
            return self._limit(PAGE_BYTES), None
        total = 0
        while last < len(self._keys) and (last == first or total + self._sizes[last] <= PAGE_BYTES // 2):
            total += self._sizes[last]
            last += 1
        return self._limit(PAGE_BYTES // 2), self._keys[last] if last < len(self._keys) else None

    def _limit(self, room: int) -> int:
        return max(1, min(self._most_keys, room // self._small))


def sizes_without_values() -> KeySizes:
    """Return the sizes for a member that reads no values."""
    return KeySizes(_KEYS_WITHOUT_VALUES, 1, {})


def read_key_sizes(path: str, check_time: Callable[[], object] = lambda: None) -> KeySizes:
    """Return the sizes in a member's database. If it is unreadable, every entry is assumed to be as large as etcd accepts.

    Raises OSError, and what ``check_time`` raises, which is called from time to time.
    """
    small = PAGE_BYTES // 2 // _KEYS_WITH_VALUES
    large: dict[bytes, int] = {}
    try:
        with open(path, "rb", buffering=0) as database:
            for number, item in enumerate(bbolt.items(database, bbolt.newest_meta(database), _BUCKET)):
                if number % _CLOCK_INTERVAL == 0:
                    check_time()
                if len(item.value) <= small:
                    continue
                key = _key_of(item.value)
                large[key] = max(large.get(key, 0), len(item.value))
                while len(large) > _MAX_LARGE:
                    small *= 2
                    large = {key: size for key, size in large.items() if size > small}
    except (bbolt.FormatError, LookupError):  # etcd wrote to it during the walk, or it has another format
        return KeySizes(_KEYS_WITH_VALUES, _MAX_VALUE, {})
    return KeySizes(_KEYS_WITH_VALUES, small, large)


def _key_of(entry: bytes) -> bytes:
    """Return the key of a KeyValue. Raises LookupError."""
    try:
        for number, start, end in protobuf.fields(entry):
            if number == _KEY_FIELD and end >= 0:
                return entry[start:end]
    except ValueError as error:
        raise LookupError from error
    raise LookupError
