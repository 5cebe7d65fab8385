# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add up what keys take: for each group of names, by size of values, and the extremes. Pure; no value ever gets here."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.compacted_size import CompactedSize, stored_entry
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.groups import (
    MAX_GROUPS,
    OTHER,
    Grouping,
    printable,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import Key
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.sizes import Histogram

# Distinct leases to remember.
_MAX_LEASES = 100_000


@dataclass
class Group:
    """The keys of one group. ``bytes``: of keys and values. ``writes``: how often they were written since they were created."""

    keys: int = 0
    bytes: int = 0
    largest_value: int = 0
    writes: int = 0
    with_lease: int = 0

    def add(self, key: Key) -> None:
        """Count a key."""
        self.keys += 1
        self.bytes += key.size
        self.largest_value = max(self.largest_value, key.value_size)
        self.writes += key.version
        self.with_lease += bool(key.lease)


@dataclass
class KeySpace:
    """What was added so far. ``top``: how many groups and keys the lists have."""

    grouping: Grouping
    top: int
    groups: dict[str, Group] = field(default_factory=dict)
    total: Group = field(default_factory=Group)
    values: Histogram = field(default_factory=Histogram)
    compacted: CompactedSize = field(default_factory=CompactedSize)
    leases: set[int] = field(default_factory=set)
    _largest: list[tuple[int, bytes, Key]] = field(default_factory=list)
    _most_written: list[tuple[int, bytes, Key]] = field(default_factory=list)

    def add(self, key: Key) -> None:
        """Count a key."""
        name = self.grouping(key.name)
        if name not in self.groups and len(self.groups) >= MAX_GROUPS:
            name = OTHER
        self.groups.setdefault(name, Group()).add(key)
        self.total.add(key)
        self.values.add(key.value_size)
        revisions = (key.mod_revision, key.mod_revision, key.version)
        self.compacted.add(stored_entry(len(key.name), key.value_size, revisions, key.lease))
        if key.lease and len(self.leases) < _MAX_LEASES:
            self.leases.add(key.lease)
        self._keep(self._largest, (key.size, key.name, key))
        self._keep(self._most_written, (key.version, key.name, key))

    def _keep(self, heap: list[tuple[int, bytes, Key]], item: tuple[int, bytes, Key]) -> None:
        if len(heap) < self.top:
            heapq.heappush(heap, item)
        elif item[:2] > heap[0][:2]:
            heapq.heapreplace(heap, item)

    def group_list(self, *, complete: bool) -> list[dict[str, Any]]:
        """Return the groups with most bytes, largest first, each with its share of all bytes in percent, None unless all keys were added."""
        ordered = sorted(self.groups.items(), key=lambda item: (-item[1].bytes, item[0]))
        total = max(1, self.total.bytes)
        return [
            {"group": name, **vars(group), "share": round(100 * group.bytes / total, 1) if complete else None}
            for name, group in ordered[: self.top]
        ]

    def largest_keys(self) -> list[dict[str, Any]]:
        """Return the keys with most bytes, largest first."""
        return [_described(key) for _size, _name, key in sorted(self._largest, reverse=True)]

    def most_written_keys(self) -> list[dict[str, Any]]:
        """Return the keys that were written most often since they were created, first the one written most."""
        return [_described(key) for _version, _name, key in sorted(self._most_written, reverse=True)]


def _described(key: Key) -> dict[str, Any]:
    return {"key": printable(key.name), "bytes": key.size, "writes": key.version, "with_lease": bool(key.lease)}
