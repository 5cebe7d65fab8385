# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Garbage that outlives a collection: what was measured, and where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import garbage, storage
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_input

MIB = 1 << 20
# One member, 64 clients with single puts. peak: RssAnon in MB, measured.
MEASURED = [
    ("3.7.3", 100, 600000, 1, 200, 20000, 402),
    ("3.6.16", 200, 400000, 2, 128, 20000, 420),
    ("3.7.3", 100, 200000, 1, 200, 4287, 142),
    ("3.6.16", 200, 138192, 2, 128, 3471, 142),
    ("3.7.3", 100, 129108, 2, 200, 2123, 99),
    ("3.7.3", 100, 100000, 1, 200, 2887, 78),
]


def workload(key: int, keys: int, revisions: int, value: int, rate: int) -> dict[str, Any]:
    """Return a workload of many keys without watches and ranges."""
    sizes = {"key_size": key, "keys": keys, "revisions_per_key": revisions, "value_size": value}
    return {
        **sizes,
        "puts_per_second": rate,
        "clients": 64,
        "tls": False,
        "watch_streams": 0,
        "watchers": 0,
        "range_size": 0,
    }


@pytest.mark.parametrize(("version", "key", "keys", "revisions", "value", "rate", "peak"), MEASURED)
def test_many_keys_are_not_estimated_too_low(
    version: str, key: int, keys: int, revisions: int, value: int, rate: int, peak: int
) -> None:
    found = estimate(version, workload(key, keys, revisions, value, rate), {}, 1)["rss_anon_peak"] / 1e6
    assert 0.95 * peak < found < 1.1 * peak


def marking(keys: int, rate: int) -> int:
    """Return the marking garbage of a workload on 3.7."""
    given = parse_input("3.7.3", workload(100, keys, 1, 200, rate), {}, 1)
    constants = CONSTANTS_HIGH["3.7"]
    return garbage.marking_garbage(constants, given.workload, storage.index(constants, given.workload, 0))


def test_small_or_slow_workloads_have_no_marking_garbage() -> None:
    assert marking(10000, 10000) == marking(1000000, 200) == marking(100000, 2000) == 0


def test_fast_puts_have_marking_garbage_with_few_keys_too() -> None:
    """Each put of a few bytes allocates 12 to 14 kB, and marking takes time without keys too."""
    assert 0 < marking(20000, 12000) < 0.5e6


def test_marking_garbage_is_bounded_by_the_index() -> None:
    assert 0 < marking(200000, 4000) < marking(200000, 6000)
    assert marking(600000, 20000) == marking(600000, 100000) < 20e6


def test_gomemlimit_counts_memory_that_is_never_touched() -> None:
    """3.5.35, 10,600 puts/s of 2,241 B: 78 to 80 MiB with GOMEMLIMIT=86MiB."""
    load = workload(23, 50651, 3, 2241, 10600)
    settings = {"snapshot_count": 5000, "snapshot_catchup_entries": 1184, "gomemlimit": 86 << 20}
    assert estimate("3.5.35", load, settings, 1)["rss_anon_peak"] == 81 << 20


# RssAnon of an idle member that has just collected, in MiB, 4 s after its start; GOGC 25, 100 and 200.
IDLE = {"3.5.35": (7.3, 7.7, 7.0), "3.6.16": (7.5, 7.9, 8.1), "3.7.3": (6.8, 8.6, 7.9)}
# Go's goal for the heap of the same members.
GOALS = {"3.5.35": (5.5, 7.9, 12.0), "3.6.16": (5.8, 8.4, 12.8), "3.7.3": (5.9, 8.3, 12.6)}


@pytest.mark.parametrize("version", list(IDLE))
def test_gogc_does_not_multiply_what_is_outside_the_heap(version: str) -> None:
    """An idle member has a live heap of 4 to 4.5 MiB, stacks included, and 3 MiB beyond it that do not grow with GOGC."""
    idle = {"keys": 1, "puts_per_second": 0, "clients": 0, "watch_streams": 0, "watchers": 0, "range_size": 0}
    found = estimate(version, idle, {}, 1)
    base = next(part for part in found["components"] if part["name"] == "base")
    outside = CONSTANTS_HIGH[found["series"]].base_outside
    for gogc, anon, goal in zip((25, 100, 200), IDLE[version], GOALS[version], strict=True):
        assert 0.85 * goal < base["high"] / MIB * (1 + gogc / 100) < 1.25 * goal
        assert base["low"] + outside < 1.1 * anon * MIB
        assert base["high"] + outside > 0.85 * anon * MIB
