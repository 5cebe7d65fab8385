# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A key space in memory, which answers as a member does."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.budget import Budget
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import Key, Page, ReadError


@dataclass
class Keys:
    """Keys with the sizes of their values. ``fails_after``: how many pages are returned before an error."""

    sizes: dict[bytes, int]
    fails_after: int = 1_000_000
    requests: list[tuple[bytes, bytes | None, int]] = field(default_factory=list)
    walked: int = 0

    def __post_init__(self) -> None:
        self.names = sorted(self.sizes)

    def read(self, start: bytes, end: bytes | None, limit: int, *, values: bool = True) -> Page:
        """Return a page."""
        if len(self.requests) >= self.fails_after:
            raise ReadError("the member stopped")
        self.requests.append((start, end, limit))
        first = bisect_left(self.names, start)
        last = len(self.names) if end is None else bisect_left(self.names, end)
        count = max(0, last - first)
        self.walked += count
        chosen = self.names[first : min(last, first + limit)]
        keys = [Key(name, self.sizes[name] if values else 0, 5, 1, 0) for name in chosen]
        return Page(keys, count, len(keys) < count, 5)

    def at(self, revision: int) -> Keys:
        """Return the same keys: they do not change."""
        assert revision == 5
        return self


@pytest.fixture(name="keys_of")
def key_space() -> type[Keys]:
    """Return the class of key spaces in memory."""
    return Keys


@pytest.fixture(name="budget")
def new_budget() -> Callable[..., Budget]:
    """Return the function that makes a budget whose clock stands still."""

    def make(limit: int = 1 << 30, **changed: Any) -> Budget:
        values = {"rate": 1 << 20, "in_use": 1 << 40, "entry_size": 100, "page_bytes": 256 << 10, "page_keys": 20}
        values.update({"clock": lambda: 0.0, "pause": lambda _seconds: None, **changed})
        return Budget(limit, **values)

    return make
