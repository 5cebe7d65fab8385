# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan fits, trades away the cheapest first, keeps pinned settings, and proposes changes that would fit."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB, format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import PLAN
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput
from ansible_collections.etcdops.headroom.plugins.module_utils._plan import plan as plan_plan
from ansible_collections.etcdops.headroom.plugins.module_utils._plan import search as plan_search
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.histories import histories
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.steps import (
    HIGH_PRESSURE,
    descending,
    search_steps,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.texts import estimate_text, plan_text

VERSIONS = ["3.5.5", "3.5.35", "3.6.16", "3.7.3"]
LARGE: dict[str, Any] = {
    "value_size": "100KB",
    "keys": 20000,
    "puts_per_second": 200,
    "clients": 200,
    "watch_streams": 400,
    "watchers": 5000,
    "range_size": "10MB",
}


def flag(plan: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one row of the flags."""
    found: dict[str, Any] = next(row for row in plan["flags"] if row["name"] == name)
    return found


def assert_fits(plan: dict[str, Any]) -> None:
    """Check what every plan promises."""
    figures = plan["estimate"]
    needed = max(figures["rss_anon_peak"], figures["restart_rss_anon_peak"]) + figures["outside_go"]
    assert needed <= plan["memory_high"] < plan["memory_max"] <= plan["budget"]
    assert figures["memory_max_least"] <= plan["budget"] + MIB
    limit = plan["environment"].get("GOMEMLIMIT")
    if limit is not None:
        assert int(limit.removesuffix("MiB")) * MIB < plan["memory_high"]
    assert 2 << 30 <= plan["settings"]["quota_backend_bytes"] <= 8 << 30
    assert plan["settings"]["auto_compaction_retention"][-1] in "hms"


@pytest.mark.parametrize("version", VERSIONS)
def test_large_values_in_two_gigabytes(version: str) -> None:
    plan = plan_plan.plan(version, LARGE, 3, "2GB")
    assert_fits(plan)
    assert plan["settings"]["snapshot_catchup_entries"] >= 1000
    assert flag(plan, "auto_compaction_retention")["reason"].startswith("the longest history that fits")
    assert plan["estimate"]["rss_peak"] <= plan["memory_max"]


def test_a_small_workload_keeps_the_defaults() -> None:
    plan = plan_plan.plan("3.7.3", {}, 3, "2GB")
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
    bounds = plan_plan.budgets("3.7.3", {}, 3, pinned)
    assert bounds == (minimum * MIB, 2 << 30)
    plan_plan.plan("3.7.3", {}, 3, bounds.minimum, pinned)
    assert_fits(plan_plan.plan("3.7.3", {}, 3, bounds.without_trade_offs, pinned))


@pytest.mark.parametrize("version", VERSIONS)
def test_order_of_what_is_traded_away(version: str) -> None:
    """Trade away entries beyond 30 s first, then GC headroom, then entries, and so on, as the budget shrinks."""
    bounds = plan_plan.budgets(version, LARGE, 3)
    wanted = 30 * LARGE["puts_per_second"]
    rules = PLAN[version[:3]]
    seen = []
    for budget in range(bounds.without_trade_offs, bounds.minimum - 1, -32 * MIB):
        case, _assumed = plan_plan.parse_case(version, LARGE, 3, budget, {}, None)
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
    case, _assumed = plan_plan.parse_case("3.6.16", load, 3, 1500 * MIB, pinned, None)
    choice = plan_search.search(case)
    assert choice is not None and choice.step == 5
    plan = plan_plan.plan("3.6.16", load, 3, 1500 * MIB, pinned)
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
    plan = plan_plan.plan("3.5.5", LARGE, 3, "1GB")
    assert list(plan["environment"]) == ["GOGC"]
    assert flag(plan, "gogc")["reason"] == "collects garbage earlier; this release does not support GOMEMLIMIT"


@pytest.mark.parametrize(("members", "least"), [(1, 1), (3, 100)])
def test_a_single_member_may_go_below_a_hundred_entries(members: int, least: int) -> None:
    workload = plan_plan.parse_input("3.7.3", LARGE, {}, members).workload
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
    plan = plan_plan.plan("3.7.3", LARGE, 3, "2GB", {name: value})
    if name != "memory_mlock":
        row = flag(plan, name)
        assert (row["source"], row["text"]) == ("pinned", shown)
        assert row["reason"].startswith("yours; ")
    if name in plan["settings"]:
        assert plan["estimate"]["settings"][name] == plan["settings"][name]


def test_the_cost_of_a_setting_is_shown() -> None:
    row = flag(plan_plan.plan("3.7.3", {}, 3, "512MB", {"snapshot_count": 100000}), "snapshot_count")
    assert re.fullmatch(r"yours; [0-9.]+ [MG]iB more at the peak than with [0-9,]+", row["reason"])


@pytest.mark.parametrize("retention", ["100", "10000", "3000000"])
def test_the_cost_of_revision_mode_is_compared_with_a_plan_without_its_retention(retention: str) -> None:
    """A number of revisions has no meaning without its mode: periodic mode would read it as hours."""
    pinned = {"auto_compaction_mode": "revision", "auto_compaction_retention": retention}
    plan = plan_plan.plan("3.7.3", {}, 3, "2GB", pinned)
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
    with pytest.raises(plan_plan.PlanInfeasible) as error:
        plan_plan.plan("3.7.3", workload, 3, "2GB", {"auto_compaction_mode": "revision", **pinned})
    assert text in str(error.value)


@pytest.mark.parametrize(("value_size", "revisions"), [(100, "100000"), ("100KB", "1000")])
def test_revision_mode_gets_as_many_revisions_as_memory_holds(value_size: Any, revisions: str) -> None:
    pinned = {"auto_compaction_mode": "revision", "quota_backend_bytes": -1}
    chosen = plan_plan.plan("3.7.3", {**LARGE, "value_size": value_size}, 3, "2GB", pinned)["settings"]
    assert chosen["auto_compaction_retention"] == revisions
    assert chosen["quota_backend_bytes"] == -1


def test_a_history_in_the_workload_does_not_pay_for_a_longer_retention() -> None:
    """revisions_per_key describes the cluster under its former compaction; the plan's own keeps more revisions."""
    work = {"keys": 1000, "value_size": 10000, "puts_per_second": 200}
    without = plan_plan.plan("3.6.16", work, 3, "8GB")
    plan = plan_plan.plan("3.6.16", {**work, "revisions_per_key": 100}, 3, "8GB")
    assert plan["settings"] == without["settings"]
    assert plan["estimate"]["db_size"] == without["estimate"]["db_size"]
    assert plan["estimate"]["workload"]["revisions_per_key"] == 100
    assert (plan["settings"]["auto_compaction_retention"], plan["settings"]["quota_backend_bytes"]) == ("15m", 23 << 28)


def test_a_longer_history_in_the_workload_counts() -> None:
    work = {"keys": 1000, "value_size": 10000, "puts_per_second": 1, "revisions_per_key": 300}
    plan = plan_plan.plan("3.6.16", work, 3, "8GB")
    assert plan["settings"]["auto_compaction_retention"] == "1h"
    assert plan["estimate"]["db_size"] > 300 * 1000 * 10000


@pytest.mark.parametrize("retention", ["0", "1h"])
def test_with_a_pinned_retention_the_history_in_the_workload_counts(retention: str) -> None:
    """For example, the API server of Kubernetes compacts, whatever the retention is."""
    work = {"keys": 1000, "value_size": 10000, "puts_per_second": 200, "revisions_per_key": 100}
    plan = plan_plan.plan("3.6.16", work, 3, "8GB", {"auto_compaction_retention": retention})
    assert 100 * 1000 * 10000 < plan["estimate"]["db_size"] < 150 * 1000 * 10000


def test_a_history_that_is_too_large_is_named() -> None:
    work = {"keys": 1000, "value_size": 10000, "puts_per_second": 200, "revisions_per_key": 2000}
    with pytest.raises(plan_plan.PlanInfeasible) as error:
        plan_plan.plan("3.6.16", work, 3, "8GB")
    expected = "live keys with 2,000 revisions each (workload.revisions_per_key) take 19.1 GiB of database, the largest quota of a plan is 8.0 GiB"
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("version", "workload", "budget", "pinned", "texts"),
    [
        (
            "3.7.3",
            LARGE,
            "256MB",
            {},
            [
                "no flags fit this workload into 256.0 MiB",
                "etcd 3.7.3 needs",
                " more",
                "a memory budget of",
            ],
        ),
        (
            "3.7.3",
            LARGE,
            "2GB",
            {"snapshot_count": 100000},
            [
                "leave snapshot_count (100,000) to the plan",
                "a memory budget of ",
                "each value split into 10 keys",
            ],
        ),
        (
            "3.7.3",
            {**LARGE, "keys": 200000},
            "4GB",
            {},
            [" GiB of database, the largest quota of a plan is 8.0 GiB", "live keys."],
        ),
        (
            "3.5.35",
            {"value_size": 100, "clients": 0, "puts_per_second": 1},
            "64MB",
            {},
            ["etcd 3.5.35 needs", "a memory budget of"],
        ),
    ],
)
def test_infeasible(version: str, workload: Any, budget: str, pinned: Any, texts: list[str]) -> None:
    with pytest.raises(plan_plan.PlanInfeasible) as error:
        plan_plan.plan(version, workload, 3, budget, pinned)
    for text in texts:
        assert text in str(error.value)


def test_a_split_into_more_keys_than_there_can_be_is_no_remedy() -> None:
    with pytest.raises(plan_plan.PlanInfeasible, match="no flags fit this workload"):
        plan_plan.plan("3.7.3", {"value_size": "100KB", "keys": 9 * 10**9}, 3, "2GB")


def test_remedies_hold_what_they_promise() -> None:
    """The budget named in the error is one that works, and 1 MiB less is not."""
    with pytest.raises(plan_plan.PlanInfeasible) as error:
        plan_plan.plan("3.6.16", LARGE, 3, "256MB")
    size = str(error.value).split("a memory budget of ")[1].split(" MiB")[0]
    assert_fits(plan_plan.plan("3.6.16", LARGE, 3, f"{size}MiB"))
    with pytest.raises(plan_plan.PlanInfeasible):
        plan_plan.plan("3.6.16", LARGE, 3, int(float(size) - 1) * MIB)


def test_a_budget_just_below_what_is_needed() -> None:
    """MemoryHigh has whole MiB, so the message names the next budget that fits, never one that is 0 B away."""
    enough = plan_plan.budgets("3.6.16", LARGE, 3).minimum
    for budget in (enough - MIB // 2, enough - MIB):
        try:
            plan_plan.plan("3.6.16", LARGE, 3, budget)
        except plan_plan.PlanInfeasible as error:
            found = re.search(r"needs (\S+ \S+), (\S+ \S+) more", str(error))
            assert found is not None, error
            assert found.groups() == (format_size(enough), format_size(enough - budget))
        else:
            assert budget > enough - MIB


@pytest.mark.parametrize(
    ("budget", "pinned", "text"),
    [
        ("10MB", {}, "the memory budget is 10.0 MiB: etcd alone needs 64.0 MiB"),
        ("lots", {}, "the memory budget is 'lots', which is not a valid size"),
        ("1GB", {"memory_max": "2GB"}, "settings.memory_max (2.0 GiB) is above the memory budget (1.0 GiB)"),
        ("1GB", {"gomemlimit": "2GB"}, "settings.gomemlimit (2.0 GiB) is above the memory budget"),
        ("1GB", {"heartbeat": 1}, "settings has an unknown key 'heartbeat'"),
    ],
)
def test_bad_input(budget: Any, pinned: Any, text: str) -> None:
    with pytest.raises(BadInput) if "size" not in text else pytest.raises(ValueError) as error:
        plan_plan.plan("3.7.3", {}, 3, budget, pinned)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("pinned", "texts"),
    [
        (
            {"gomemlimit": "1900MB", "memory_max": "1800MB"},
            ["settings.gomemlimit (1.9 GiB) is above settings.memory_max"],
        ),
        (
            {"memory_high": "2GB"},
            ["settings.memory_high (2.0 GiB) equals MemoryMax", "leave memory_high to the plan"],
        ),
        ({"memory_high": "1GB", "memory_max": "1GB"}, ["settings.memory_high (1.0 GiB) equals MemoryMax"]),
        (
            {"quota_backend_bytes": "6GB"},
            ["settings.quota_backend_bytes (6.0 GiB) is above the volume's size (5.0 GiB)"],
        ),
        ({"gogc": 0}, ["settings.gogc is 0: it must lie between 1 and 1,000"]),
        ([], ["settings must be a map of"]),
        ("snapshot_count", ["settings must be a map of"]),
    ],
)
def test_settings_that_cannot_be_are_named_once(pinned: Any, texts: list[str]) -> None:
    with pytest.raises(BadInput) as error:
        plan_plan.plan("3.7.3", {}, 3, "2GB", pinned, volume_size="5GB")
    for text in texts:
        assert str(error.value).count(text) == 1, error.value


def test_gomemlimit_needs_a_release_that_knows_it() -> None:
    with pytest.raises(BadInput, match=r"no effect on etcd 3\.5\.7: GOMEMLIMIT needs 3\.5\.8 or later"):
        plan_plan.plan("3.5.7", {}, 3, "2GB", {"gomemlimit": "1GB"})


# 16 GiB of live data need more than any of these volumes; 1 GiB with its history fits all of them.
@pytest.mark.parametrize("volume", ["4GB", "6.5GB", "9GB", "100GB"])
def test_the_quota_stays_below_the_volume(volume: str) -> None:
    free = plan_plan.plan("3.7.3", {**LARGE, "keys": 1000, "puts_per_second": 20}, 3, "4GB")
    found = plan_plan.plan("3.7.3", {**LARGE, "keys": 1000, "puts_per_second": 20}, 3, "4GB", volume_size=volume)
    quota = found["settings"]["quota_backend_bytes"]
    assert found["estimate"]["db_in_use"] <= quota <= int(float(volume[:-2]) * 1024 * MIB)
    assert quota <= free["settings"]["quota_backend_bytes"]
    if volume == "100GB":
        assert found == free


@pytest.mark.parametrize(
    ("volume", "pinned", "needed"),
    [
        (
            "2GB",
            {},
            "the quota of 1.8 GiB and a write-ahead log of up to 427.2 MiB may need 2.2 GiB, and the volume has 2.0 GiB",
        ),
        ("2.4GB", {"quota_backend_bytes": 0}, "may need 2,595,483,648 bytes, and the volume has 2,576,980,3"),
        ("3GB", {"quota_backend_bytes": "2GB"}, ""),
        ("100GB", {}, ""),
    ],
)
def test_a_volume_without_room_for_the_log_is_noted(volume: str, pinned: dict[str, Any], needed: str) -> None:
    found = plan_plan.plan("3.7.3", {}, 3, "4GB", pinned, volume_size=volume)
    notes = [note for note in found["notes"] if "write-ahead log" in note]
    assert len(notes) == bool(needed) and all(
        needed in note and "unless the log has its own volume" in note for note in notes
    ), found["notes"]


def test_a_volume_that_is_too_small() -> None:
    with pytest.raises(
        plan_plan.PlanInfeasible, match=r"a volume of 2\.0 GiB has room for 1\.8 GiB.*; or at most"
    ) as error:
        plan_plan.plan("3.7.3", {**LARGE, "keys": 30000, "puts_per_second": 1}, 3, "4GB", volume_size="2GB")
    size = re.search(r"a volume of ([0-9.]+ GiB)[;.]", str(error.value))
    assert size is not None
    assert_fits(
        plan_plan.plan("3.7.3", {**LARGE, "keys": 30000, "puts_per_second": 1}, 3, "4GB", volume_size=size.group(1))
    )
    with pytest.raises(BadInput, match=r"volume_size is 1\.0 MiB: etcd alone needs 64\.0 MiB"):
        plan_plan.plan("3.7.3", {}, 3, "4GB", volume_size="1MB")


@pytest.mark.parametrize(
    ("size", "volume", "quota", "note"),
    [
        (1 << 30, None, 2 << 30, ""),
        (4 << 30, None, 5 << 30, ""),
        (7 << 30, None, 8 << 30, "the database file has 7.0 GiB, and the largest quota that fits is 8.0 GiB"),
        (4 << 30, "5GB", 4608 * MIB, "the database file has 4.0 GiB, and the largest quota that fits is 4.5 GiB"),
    ],
)
def test_the_quota_stays_above_the_database_file(size: int, volume: str | None, quota: int, note: str) -> None:
    found = plan_plan.plan("3.7.3", {}, 3, "4GB", volume_size=volume, db_size=size)
    assert found["settings"]["quota_backend_bytes"] == quota
    assert flag(found, "quota_backend_bytes")["reason"].startswith("the database file has") == (size > 1 << 30)
    assert found["notes"][0].startswith(note)


@pytest.mark.parametrize(
    ("size", "pinned", "volume", "text"),
    [
        (
            8 << 30,
            {},
            None,
            "the database file has 8.0 GiB today, the largest quota of a plan is 8.0 GiB, and etcd would",
        ),
        (8 << 30, {}, "50GB", "the database file has 8.0 GiB today, the largest quota of a plan is 8.0 GiB"),
        (3 << 30, {}, "3GB", "the database file has 3.0 GiB today, a volume of 3.0 GiB has room for 2.7 GiB"),
        (3 << 30, {"quota_backend_bytes": "2GB"}, None, "What would fit: leave quota_backend_bytes (2.0 GiB)"),
    ],
)
def test_a_database_file_above_the_quota(size: int, pinned: Any, volume: str | None, text: str) -> None:
    with pytest.raises(plan_plan.PlanInfeasible) as error:
        plan_plan.plan("3.7.3", {}, 3, "4GB", pinned, volume, size)
    assert text in str(error.value)


def test_no_quota_on_a_volume_is_said() -> None:
    found = plan_plan.plan("3.7.3", {}, 3, "4GB", {"quota_backend_bytes": -1}, "10GB")
    assert "without a quota the database may fill the volume of 10.0 GiB: etcd then crashes" in found["notes"]


def test_null_settings_are_not_pins() -> None:
    assert plan_plan.plan("3.7.3", {}, 3, "2GB", {"snapshot_count": None}) == plan_plan.plan("3.7.3", {}, 3, "2GB")


def test_round_steps() -> None:
    assert descending(6000, 1000) == [6000, 4800, 3800, 3000, 2400, 1900, 1500, 1200, 1000]
    assert descending(100, 100) == [100]
    assert descending(20, 1)[-1] == 1


def test_texts() -> None:
    plan = plan_plan.plan("3.7.3", LARGE, 3, "2GB")
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
    problem = plan_plan.host_memory_problem(sizes, total, limit)
    assert all(text in problem for text in texts) and bool(problem) is bool(texts), problem
