# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What reading may cost."""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.budget import MAX_PAGE, MAX_VALUE


def test_pauses_hold_the_rate(keys_of: Any, budget: Any) -> None:
    pauses: list[float] = []
    limited = budget(pause=pauses.append)
    limited.fetch(lambda: keys_of({b"k": (2 << 20) - 1}).read(b"", None, 1))
    assert pauses == [2.0] and limited.read == 2 << 20 and limited.pages == 1


def test_large_values_make_pages_small(keys_of: Any, budget: Any) -> None:
    limited = budget()
    assert limited.page_limit == 20
    limited.fetch(lambda: keys_of({b"k": 100_000}).read(b"", None, 1))
    assert limited.page_limit == 2


def test_pages_grow_slowly_after_a_large_value(keys_of: Any, budget: Any) -> None:
    limited = budget()
    limits = []
    for size in (100_000, 1, 1, 1, 1):
        limited.fetch(lambda size=size: keys_of({b"k": size}).read(b"", None, 1))
        limits.append(limited.page_limit)
    assert limits == [2, 5, 10, 20, 20]


def test_a_page_never_has_more_keys_than_may_all_be_large(keys_of: Any, budget: Any) -> None:
    for unknown in (budget(page_keys=500, in_use=0), budget(page_keys=500, in_use=MAX_PAGE + 200)):
        assert unknown.page_limit * MAX_VALUE <= MAX_PAGE and unknown.page_limit == 42
        assert unknown.bound == unknown.limit + MAX_PAGE
    # The keys that are left fit into a page.
    unknown.fetch(lambda: keys_of({b"k": 199}).read(b"", None, 1))
    assert unknown.page_limit == 500


def test_the_bound_is_known_before_reading(budget: Any) -> None:
    assert budget(1 << 20).bound == (1 << 20) + 20 * MAX_VALUE
    small = budget(1 << 20, in_use=3 << 20, entry_size=1, page_bytes=1, page_keys=1000)
    assert small.bound == (1 << 20) + (3 << 19)
    assert budget(1 << 20, in_use=0).bound == (1 << 20) + 20 * MAX_VALUE
