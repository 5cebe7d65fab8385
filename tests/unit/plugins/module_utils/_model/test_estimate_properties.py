# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the memory model that hold for every workload."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from hypothesis import given, settings
from hypothesis import strategies as st

VERSIONS = ["3.5.35", "3.6.16", "3.7.3"]
TOTALS = (
    "heap_live",
    "heap_peak",
    "rss_anon_peak",
    "restart_rss_anon_peak",
    "memory_max_least",
    "memory_max_with_snapshot",
    "memory_max_recommended",
)
# Together they stay below NO_QUOTA, the size at which a database without a quota counts as full.
SIZES = {"value_size": 10**6, "key_size": 10**4, "range_size": 10**9}
COUNTS = {
    "keys": 10**8,
    "puts_per_second": 10**4,
    "clients": 10**6,
    "watch_streams": 10**6,
    "watchers": 10**8,
    "leases": 10**7,
}
WORKLOADS = st.fixed_dictionaries(
    {name: st.integers(min_value=1, max_value=top) for name, top in {**SIZES, **COUNTS}.items()}
)


@settings(max_examples=200)
@given(
    version=st.sampled_from(VERSIONS),
    workload=WORKLOADS,
    name=st.sampled_from([*SIZES, *COUNTS]),
    more=st.integers(min_value=1, max_value=1000),
    mode=st.sampled_from([("periodic", "5m"), ("periodic", "8h"), ("revision", "10000")]),
)
def test_more_never_needs_less(
    version: str, workload: dict[str, int], name: str, more: int, mode: tuple[str, str]
) -> None:
    """A larger value of anything in the workload lowers no total. Without a quota: a full database takes no more revisions."""
    flags = {"auto_compaction_mode": mode[0], "auto_compaction_retention": mode[1], "quota_backend_bytes": -1}
    larger = {**workload, name: workload[name] + more}
    before, after = estimate(version, workload, flags), estimate(version, larger, flags)
    assert all(after[total] >= before[total] for total in TOTALS)


@settings(max_examples=100)
@given(
    version=st.sampled_from(VERSIONS),
    workload=WORKLOADS,
    writers=st.integers(min_value=0, max_value=10**6),
    more=st.integers(min_value=1, max_value=1000),
)
def test_more_writers_never_need_less(version: str, workload: dict[str, int], writers: int, more: int) -> None:
    flags = {"auto_compaction_retention": "5m"}
    before, after = (estimate(version, {**workload, "writers": count}, flags) for count in (writers, writers + more))
    assert all(after[total] >= before[total] for total in TOTALS)


@settings(max_examples=200)
@given(
    version=st.sampled_from(VERSIONS),
    workload=WORKLOADS,
    name=st.sampled_from(["snapshot_count", "snapshot_catchup_entries", "gogc"]),
    value=st.integers(min_value=1, max_value=1000),
    more=st.integers(min_value=1, max_value=10**5),
)
def test_larger_settings_never_need_less(
    version: str, workload: dict[str, int], name: str, value: int, more: int
) -> None:
    if name == "gogc":
        more %= 1000 - value + 1
    before = estimate(version, workload, {name: value})
    after = estimate(version, workload, {name: value + more})
    # While 3.5 sends a snapshot, its log grows by whole multiples of snapshot-count, and a larger one may have a lower multiple.
    multiples = (
        {"memory_max_with_snapshot", "memory_max_recommended"}
        if version.startswith("3.5") and name == "snapshot_count"
        else set()
    )
    assert all(after[total] >= before[total] for total in set(TOTALS) - multiples)


@settings(max_examples=100)
@given(version=st.sampled_from(VERSIONS), workload=WORKLOADS, limit=st.integers(min_value=1 << 24, max_value=1 << 40))
def test_gomemlimit_never_needs_more(version: str, workload: dict[str, int], limit: int) -> None:
    free = estimate(version, workload, {})
    held = estimate(version, workload, {"gomemlimit": limit})
    assert held["rss_anon_peak"] <= free["rss_anon_peak"]
    assert held["heap_peak"] <= free["heap_peak"]


@settings(max_examples=100)
@given(version=st.sampled_from(VERSIONS), workload=WORKLOADS)
def test_figures_agree_with_each_other(version: str, workload: dict[str, int]) -> None:
    figures = estimate(version, workload)
    assert figures["heap_live"] == sum(part["high"] for part in figures["components"] if part["kind"] == "heap")
    assert all(0 <= part["low"] <= part["high"] for part in figures["components"])
    untouched = 4 << 20  # of the buffers to the two other members, which are part of the heap but not of RssAnon
    assert figures["heap_live"] <= figures["heap_peak"] <= figures["rss_anon_peak"] + untouched
    assert figures["rss_anon_peak"] < figures["memory_max_least"]
    assert max(figures["memory_max_least"], figures["memory_max_with_snapshot"]) <= figures["memory_max_recommended"]
    assert all(isinstance(figures[name], int) for name in figures if name.endswith(("peak", "live", "recommended")))
