# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan fits, trades away the cheapest first, keeps pinned settings, and proposes changes that would fit."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import PLAN
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_input
from ansible_collections.etcdops.headroom.plugins.module_utils._plan import search as plan_search
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.histories import histories
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import (
    PlanInfeasible,
    budgets,
    host_memory_problem,
    parse_case,
    plan_flags,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.steps import (
    HIGH_PRESSURE,
    descending,
    search_steps,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.texts import estimate_text, plan_text

from tests.unit.plugins.module_utils._plan.memory_plans import LARGE, VERSIONS, assert_fits, flag


@pytest.mark.parametrize("version", VERSIONS)
def test_large_values_in_two_gigabytes(version: str) -> None:
    plan = plan_flags(version, LARGE, 3, "2GB")
    assert_fits(plan)
    assert plan["settings"]["snapshot_catchup_entries"] >= 1000
    assert flag(plan, "auto_compaction_retention")["reason"].startswith("the longest history that fits")
    assert plan["estimate"]["rss_peak"] <= plan["memory_max"]


def test_a_small_workload_keeps_the_defaults() -> None:
    plan = plan_flags("3.7.3", {}, 3, "2GB")
    assert_fits(plan)
    assert flag(plan, "snapshot_catchup_entries")["source"] == "default"
    assert flag(plan, "snapshot_count")["source"] == "default"
    assert plan["settings"]["quota_backend_bytes"] == 2 << 30
    assert plan["settings"]["auto_compaction_retention"] == "1h"
    assert "GOGC" not in plan["environment"]


@pytest.mark.parametrize(
    ("pinned", "minimum"),
    [({"gomemlimit": "1900MB"}, 2000), ({"memory_high": "1900MB"}, 2000), ({"memory_max": "2GB"}, 2048)],
)
def test_proposed_budgets_are_not_below_pinned_limits(pinned: dict[str, Any], minimum: int) -> None:
    """1900 MiB are 95 % of 2000 MiB, which is 2.0 GiB as a figure to type."""
    bounds = budgets("3.7.3", {}, 3, pinned)
    assert bounds == (minimum * MIB, 2 << 30)
    plan_flags("3.7.3", {}, 3, bounds.minimum, pinned)
    assert_fits(plan_flags("3.7.3", {}, 3, bounds.without_trade_offs, pinned))


@pytest.mark.parametrize("version", VERSIONS)
def test_order_of_what_is_traded_away(version: str) -> None:
    """Trade away entries beyond 30 s first, then GC headroom, then entries, and so on, as the budget shrinks."""
    bounds = budgets(version, LARGE, 3)
    wanted = 30 * LARGE["puts_per_second"]
    rules = PLAN[version[:3]]
    seen = []
    for budget in range(bounds.without_trade_offs, bounds.minimum - 1, -32 * MIB):
        case, _assumed = parse_case(version, LARGE, 3, budget, {}, None)
        choice = plan_search.search(case)
        assert choice is not None
        entries, snapshots = choice.settings.snapshot_catchup_entries, choice.settings.snapshot_count
        seen.append((entries, choice.step, choice.gc_pressure))
        if choice.step > 2 or choice.gc_pressure == HIGH_PRESSURE:
            assert entries <= 1000
        if entries < 1000:
            assert choice.step == 8
        if snapshots < rules["snapshot_count_soft"]:
            assert choice.step in (4, 7, 8)
        # From step 6 on, a leader may be killed while a follower receives a snapshot.
        assert choice.has_room or choice.step > 4
    assert seen[0][:2] == (wanted, 0)
    assert seen[-1][0] <= 1000
    assert [row[0] for row in seen] == sorted((row[0] for row in seen), reverse=True)
    assert [row[1] for row in seen] == sorted(row[1] for row in seen)
    assert {row[1] for row in seen} >= {0, 2, 3, 6, 7, 8}


def test_a_leader_without_room_is_reported_with_the_rate_that_has_room() -> None:
    """40 MB/s for half a minute do not fit, so the plan keeps the page cache instead, and says at which rate they do."""
    load = {"value_size": "100KB", "keys": 500, "puts_per_second": 400, "clients": 8, "range_size": 0}
    pinned = {"auto_compaction_mode": "periodic", "auto_compaction_retention": "5s"}
    case, _assumed = parse_case("3.6.16", load, 3, 1500 * MIB, pinned, None)
    choice = plan_search.search(case)
    assert choice is not None and choice.step == 5
    plan = plan_flags("3.6.16", load, 3, 1500 * MIB, pinned)
    note = next(note for note in plan["notes"] if note.startswith("a follower that was away for more than 2 s"))
    rate = int(note.removesuffix(" puts/s").rpartition(" ")[2].replace(",", ""))
    assert 0 < rate < 400 and plan["snapshot_puts_per_second"] == rate
    limits = {name: plan[name] for name in ("memory_max", "memory_high")} | {
        "gomemlimit": plan["environment"]["GOMEMLIMIT"]
    }
    for puts, has_room in ((rate, True), (rate + 1, False)):
        again = estimate("3.6.16", {**load, "puts_per_second": puts}, {**plan["settings"], **limits}, 3)
        assert (again["follower_snapshot_rss_anon_peak"] + again["outside_go"] <= plan["memory_high"]) is has_room


def test_old_releases_get_gogc() -> None:
    plan = plan_flags("3.5.5", LARGE, 3, "1GB")
    assert list(plan["environment"]) == ["GOGC"]
    assert flag(plan, "gogc")["reason"] == "collects garbage earlier; this release does not support GOMEMLIMIT"


@pytest.mark.parametrize(("members", "least"), [(1, 1), (3, 100)])
def test_a_single_member_may_go_below_a_hundred_entries(members: int, least: int) -> None:
    workload = parse_input("3.7.3", LARGE, {}, members).workload
    case = Case("3.7.3", workload, members, {}, 1 << 31)
    assert search_steps(case, histories(case))[-1].entries[-1] == least


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("snapshot_catchup_entries", 1000, "1,000"),
        ("snapshot_count", 2000, "2,000"),
        ("quota_backend_bytes", "5GB", "5.0 GiB"),
        ("gogc", 50, "50"),
        ("gomemlimit", "1500MiB", "1.5 GiB"),
        ("memory_high", "1800MB", "1.8 GiB"),
        ("memory_max", "1900MB", "1.9 GiB"),
        ("auto_compaction_retention", "20s", "20s"),
        ("auto_compaction_mode", "periodic", "periodic"),
        ("memory_mlock", False, "False"),
    ],
)
def test_what_the_user_says_is_kept(name: str, value: Any, shown: str) -> None:
    plan = plan_flags("3.7.3", LARGE, 3, "2GB", {name: value})
    if name != "memory_mlock":
        row = flag(plan, name)
        assert (row["source"], row["text"]) == ("pinned", shown)
        assert row["reason"].startswith("yours; ")
    if name in plan["settings"]:
        assert plan["estimate"]["settings"][name] == plan["settings"][name]


def test_the_cost_of_a_setting_is_shown() -> None:
    row = flag(plan_flags("3.7.3", {}, 3, "512MB", {"snapshot_count": 100000}), "snapshot_count")
    assert re.fullmatch(r"yours; [0-9.]+ [MG]iB more at the peak than with [0-9,]+", row["reason"])


@pytest.mark.parametrize("retention", ["100", "10000", "3000000"])
def test_the_cost_of_revision_mode_is_compared_with_a_plan_without_its_retention(retention: str) -> None:
    """A number of revisions has no meaning without its mode: periodic mode would read it as hours."""
    pinned = {"auto_compaction_mode": "revision", "auto_compaction_retention": retention}
    plan = plan_flags("3.7.3", {}, 3, "2GB", pinned)
    reason = flag(plan, "auto_compaction_mode")["reason"]
    assert re.fullmatch(r"yours; [0-9.]+ [MG]iB (more|less) at the peak than with periodic", reason)


@pytest.mark.parametrize(
    ("pinned", "text"),
    [
        ({"auto_compaction_retention": "3000000"}, "What would fit: leave auto_compaction_retention (3000000) to the"),
        # The fewest revisions that a plan chooses do not fit this quota either.
        (
            {"auto_compaction_retention": "10000", "quota_backend_bytes": "1GB"},
            "What would fit: leave auto_compaction_mode (revision) with auto_compaction_retention (10000) to the plan",
        ),
    ],
)
def test_revision_mode_is_left_to_the_plan_with_its_retention(pinned: dict[str, Any], text: str) -> None:
    workload = {"value_size": "1MB", "keys": 500, "puts_per_second": 1}
    with pytest.raises(PlanInfeasible) as error:
        plan_flags("3.7.3", workload, 3, "2GB", {"auto_compaction_mode": "revision", **pinned})
    assert text in str(error.value)


@pytest.mark.parametrize(("value_size", "revisions"), [(100, "100000"), ("100KB", "1000")])
def test_revision_mode_gets_as_many_revisions_as_memory_holds(value_size: Any, revisions: str) -> None:
    pinned = {"auto_compaction_mode": "revision", "quota_backend_bytes": -1}
    chosen = plan_flags("3.7.3", {**LARGE, "value_size": value_size}, 3, "2GB", pinned)["settings"]
    assert chosen["auto_compaction_retention"] == revisions
    assert chosen["quota_backend_bytes"] == -1


def test_a_history_in_the_workload_does_not_pay_for_a_longer_retention() -> None:
    """revisions_per_key describes the cluster under its former compaction; the plan's own keeps more revisions."""
    work = {"keys": 1000, "value_size": 10000, "puts_per_second": 200}
    without = plan_flags("3.6.16", work, 3, "8GB")
    plan = plan_flags("3.6.16", {**work, "revisions_per_key": 100}, 3, "8GB")
    assert plan["settings"] == without["settings"]
    assert plan["estimate"]["db_size"] == without["estimate"]["db_size"]
    assert plan["estimate"]["workload"]["revisions_per_key"] == 100
    assert (plan["settings"]["auto_compaction_retention"], plan["settings"]["quota_backend_bytes"]) == ("15m", 23 << 28)


def test_a_longer_history_in_the_workload_counts() -> None:
    work = {"keys": 1000, "value_size": 10000, "puts_per_second": 1, "revisions_per_key": 300}
    plan = plan_flags("3.6.16", work, 3, "8GB")
    assert plan["settings"]["auto_compaction_retention"] == "1h"
    assert plan["estimate"]["db_size"] > 300 * 1000 * 10000


@pytest.mark.parametrize("retention", ["0", "1h"])
def test_with_a_pinned_retention_the_history_in_the_workload_counts(retention: str) -> None:
    """For example, the API server of Kubernetes compacts, whatever the retention is."""
    work = {"keys": 1000, "value_size": 10000, "puts_per_second": 200, "revisions_per_key": 100}
    plan = plan_flags("3.6.16", work, 3, "8GB", {"auto_compaction_retention": retention})
    assert 100 * 1000 * 10000 < plan["estimate"]["db_size"] < 150 * 1000 * 10000


def test_null_settings_are_not_pins() -> None:
    assert plan_flags("3.7.3", {}, 3, "2GB", {"snapshot_count": None}) == plan_flags("3.7.3", {}, 3, "2GB")


def test_round_steps() -> None:
    assert descending(6000, 1000) == [6000, 4800, 3800, 3000, 2400, 1900, 1500, 1200, 1000]
    assert descending(100, 100) == [100]
    assert descending(20, 1)[-1] == 1


def test_texts() -> None:
    plan = plan_flags("3.7.3", LARGE, 3, "2GB")
    lines = plan_text(plan).splitlines()
    assert lines[0] == "etcd 3.7.3, 3 members"
    assert "key_size 64 B (assumed)" in lines[1]
    assert any(line.startswith("snapshot_catchup_entries") and "s of writes" in line for line in lines)
    assert all(line == line.rstrip() for line in lines)
    estimate = estimate_text(plan["estimate"])
    assert "raft log" in estimate and "MemoryMax recommended" in estimate


@pytest.mark.parametrize(
    ("sizes", "total", "limit", "texts"),
    [
        ({"etcd_memory_budget": "8GB"}, 8 << 30, None, []),
        ({"etcd_memory_budget": "", "etcd_memory_max": None}, 8 << 30, None, []),
        # The plan reports what is not a size.
        ({"etcd_memory_budget": "much", "etcd_memory_max": False}, 8 << 30, None, []),
        ({"etcd_memory_budget": "16GB"}, 0, None, []),
        (
            {"etcd_memory_budget": "16GB"},
            8_100_000_000,
            None,
            [
                "etcd_memory_budget (16.0 GiB) is above the memory of the host (7.5 GiB), so the host would run out of memory before etcd reaches its limit: "
                "set it to at most 7724MB, or leave it out"
            ],
        ),
        # A host of 2 GB has less than that, because the kernel keeps a part.
        (
            {"etcd_memory_budget": "2GB"},
            (2 << 30) - 20_000_000,
            None,
            ["(2,147,483,648 bytes) is above the memory of the host (2,127,483,648 bytes)", "at most 2028MB"],
        ),
        ({"etcd_memory_budget": 2 << 30}, 8 << 30, 1 << 30, ["above the memory limit of the host (1.0 GiB)", "1024MB"]),
        ({"etcd_memory_budget": 2 << 30}, 1 << 30, 4 << 30, ["above the memory of the host (1.0 GiB)"]),
        ({"etcd_memory_budget": "", "etcd_memory_max": "9GB"}, 8 << 30, None, ["etcd_memory_max (9.0 GiB)", "8192MB"]),
        (
            {"etcd_memory_budget": "10GB", "etcd_memory_max": "9GB"},
            8 << 30,
            None,
            ["etcd_memory_budget (10.0 GiB)", "leave it out; etcd_memory_max (9.0 GiB)"],
        ),
    ],
)
def test_sizes_above_the_memory_of_the_host(
    sizes: dict[str, Any], total: int, limit: int | None, texts: list[str]
) -> None:
    problem = host_memory_problem(sizes, total, limit)
    assert all(text in problem for text in texts) and bool(problem) is bool(texts), problem


@pytest.mark.parametrize(
    ("version", "members", "workload", "budget"),
    [
        (
            "3.7.3",
            5,
            {"value_size": "5KB", "keys": 2000, "puts_per_second": 10, "clients": 10, "range_size": 0},
            "80MB",
        ),
        ("3.5.35", 3, {"value_size": 7007, "keys": 55, "puts_per_second": 23, "clients": 10, "range_size": 0}, "80MB"),
        ("3.5.35", 7, {"value_size": 140, "keys": 252, "puts_per_second": 45, "clients": 50, "range_size": 0}, "77MB"),
    ],
)
def test_gomemlimit_leaves_a_tenth_of_the_live_heap(version: str, members: int, workload: Any, budget: str) -> None:
    """Go counts the buffers for the other members, which the kernel does not as long as no message reaches them."""
    found = plan_flags(version, workload, members, budget)
    figures, limit = found["estimate"], parse_size(found["environment"]["GOMEMLIMIT"], "GOMEMLIMIT")
    assert limit * 10 >= 11 * max(figures["heap_live"], figures["restart_heap_live"])
    assert not [note for note in found["notes"] if "collect garbage all the time" in note]
