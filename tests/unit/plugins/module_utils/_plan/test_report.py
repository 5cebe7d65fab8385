# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as people read it: lines, page, and what the picture shows; whatever the calibration."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import UnknownVersion, newest_release
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.bars import GARBAGE, PARTS, caption, groups
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.html import page
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, plan_flags
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import (
    Report,
    prepare,
    summary,
    text_lines,
    title,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.texts import WIDTH

LARGE: dict[str, Any] = {"value_size": "100KB", "keys": 20000, "puts_per_second": 200}
ASKED = [
    {"workload": {"value_size": "100KB"}},
    {"version": "3.5.35", "workload": LARGE, "members": 5, "budget": "2GB"},
    {"version": "3.5.5", "workload": LARGE, "budget": "3GB", "settings": {"snapshot_count": 10000}},
    {"version": "3.6.16", "workload": {}, "members": 1, "budget": "4GB", "settings": {"memory_mlock": True}},
    {"version": "3.8.0", "unknown_version": "newest"},
]


@pytest.mark.parametrize("asked", ASKED)
def test_lines_are_for_people(asked: dict[str, Any]) -> None:
    lines = text_lines(prepare(**asked))
    assert all(len(line) <= WIDTH + 2 and line == line.rstrip() for line in lines)
    assert not [line for line in lines if re.search(r"[{}\\]|None|\bTrue\b", line)]


def test_what_is_not_said_is_assumed_and_marked() -> None:
    report = prepare(workload={"value_size": "100KB"})
    assert report.assumed == ["version", "members", "budget"]
    assert title(report).startswith(f"etcd {newest_release()} (assumed), 3 members (assumed), a memory budget of ")
    lines = text_lines(report)
    assert any(re.match(r"  key_size +64 B  assumed  ", line) for line in lines)
    assert any(re.match(r"  value_size +100\.0 KiB {3,}mean value", line) for line in lines)
    assert not any("assumed" in line for line in text_lines(prepare("3.7.3", _everything(), 3, "16GB")))


def _everything() -> dict[str, Any]:
    return {name: value for name, value in prepare().plan["estimate"]["workload"].items() if value is not None}


def test_without_a_budget_two_are_named() -> None:
    report = prepare(workload=LARGE)
    assert report.budgets is not None
    assert report.plan["budget"] == report.budgets.without_trade_offs
    said = summary(report)[0]
    assert said.startswith(
        f"No budget was given: {format_size(report.budgets.without_trade_offs)} is, rounded up, the smallest budget at which followers may miss "
        "30 s of writes, Go's garbage collector has headroom, and the whole database stays in memory. A smaller budget "
    )
    assert report.plan["settings"]["snapshot_catchup_entries"] >= 30 * LARGE["puts_per_second"]
    assert_nothing_fits_below(report, LARGE, None)


def assert_nothing_fits_below(report: Report, workload: dict[str, Any], settings: Any) -> None:
    """Check the last sentence about budgets: a budget as it is written fits, and 1 MiB less does not."""
    found = re.search(r"below ([0-9.]+ MiB|[0-9.]+ GiB) nothing fits", summary(report)[0])
    assert found is not None, summary(report)[0]
    asked = newest_release(), workload, report.plan["members"]
    plan_flags(*asked, found.group(1), settings)
    with pytest.raises(PlanInfeasible):
        plan_flags(*asked, parse_size(found.group(1), "budget") - (1 << 20), settings)


@pytest.mark.parametrize(
    ("workload", "settings", "smallest"),
    [
        ({"value_size": 100, "keys": 10_000, "puts_per_second": 1}, {"quota_backend_bytes": -1}, 79),
        ({"value_size": "1MB", "keys": 2000, "puts_per_second": 30}, {}, None),
    ],
)
def test_the_smallest_budget_is_exact(workload: dict[str, Any], settings: Any, smallest: int | None) -> None:
    report = prepare(workload=workload, settings=settings)
    assert_nothing_fits_below(report, workload, settings)
    if smallest is not None:
        assert report.budgets is not None
        assert report.budgets.minimum == smallest << 20


@pytest.mark.parametrize(
    ("members", "settings", "reasons"),
    [
        (1, {}, "Go's garbage collector has headroom and the whole database stays in memory"),
        (
            3,
            {"snapshot_catchup_entries": 100},
            "Go's garbage collector has headroom and the whole database stays in memory",
        ),
        (3, {"gogc": 20}, "followers may miss 30 s of writes and the whole database stays in memory"),
        (3, {"gogc": 20, "snapshot_catchup_entries": 100}, "the whole database stays in memory"),
    ],
)
def test_what_a_budget_cannot_buy_is_no_reason_for_it(members: int, settings: dict[str, Any], reasons: str) -> None:
    said = summary(prepare(workload=LARGE, members=members, settings=settings))[0]
    assert f"the smallest budget at which {reasons}. A smaller" in said


def test_a_budget_without_anything_to_trade_away() -> None:
    """All flags are pinned, so the smallest budget is the one without trade-offs."""
    pinned = {
        "snapshot_count": 500,
        "snapshot_catchup_entries": 100,
        "gogc": 100,
        "memory_mlock": True,
        "auto_compaction_retention": "5m",
    }
    report = prepare("3.5.5", {"puts_per_second": 0}, 1, settings=pinned)
    assert summary(report)[0].endswith(" is, rounded up, the smallest budget that fits.")


def test_pinned_memory_max_is_the_budget() -> None:
    report = prepare(workload={}, settings={"memory_max": "3GB"})
    assert (report.plan["budget"], report.plan["memory_max"]) == (3 << 30, 3 << 30)


@pytest.mark.parametrize(
    ("pinned", "smallest"),
    [
        # 95 % of the budget.
        ({"gomemlimit": "1900MB"}, 2 << 30),
        ({"memory_high": "1900MB"}, 2 << 30),
        ({"memory_high": "1GB", "gomemlimit": "1900MB"}, 2 << 30),
        ({"memory_max": "3GB", "gomemlimit": "2GB"}, 3 << 30),
    ],
)
def test_a_budget_suits_the_pinned_limits(pinned: dict[str, Any], smallest: int) -> None:
    report = prepare(workload={}, settings=pinned)
    assert report.plan["budget"] == report.plan["memory_max"] == smallest
    flags = {flag["name"]: flag["text"] for flag in report.plan["flags"] if flag["name"] in pinned}
    limits = " and ".join(f"{name} ({text})" for name, text in flags.items())
    assert summary(report)[0] == f"No budget was given: {format_size(smallest)} suits your {limits}."


def test_a_pinned_limit_below_the_proposed_budget_changes_nothing() -> None:
    proposed, pinned = (prepare(workload=LARGE, settings=one).plan["budget"] for one in ({}, {"gomemlimit": "1900MB"}))
    assert proposed == pinned > 2 << 30


@pytest.mark.parametrize(
    ("asked", "error", "text"),
    [
        ({"workload": {"value_sise": 1}}, BadInput, "did you mean 'value_size'"),
        ({"workload": {"value_size": "1MB", "keys": 100000}}, PlanInfeasible, "GiB of database"),
        ({"version": "3.8.0"}, UnknownVersion, "unknown_version=newest"),
        ({"workload": [1]}, BadInput, "workload must be a map"),
        ({"workload": LARGE, "settings": {"memory_high": "64MB"}}, PlanInfeasible, "into MemoryHigh 64.0 MiB"),
    ],
)
def test_bad_input(asked: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        prepare(**asked)


BUSY: dict[str, Any] = {"value_size": "100KB", "keys": 2000, "puts_per_second": 50}
NEEDED = re.compile(
    r"with these flags up to ([0-9.]+ [KMG]iB)(?:, but a leader up to ([0-9.]+ [KMG]iB), ([0-9.]+ [KMG]iB) more than MemoryMax, while)?"
)


def test_the_headline_counts_a_leader_that_sends_a_snapshot() -> None:
    """Its figure is the one of the note that says which MemoryMax has room for it."""
    report = prepare("3.7.3", BUSY, 3, "907MB")
    (note,) = (note for note in report.plan["notes"] if "may kill it" in note)
    found = NEEDED.search(" ".join(summary(report)))
    assert found is not None and found.group(2, 3) == ("945.0 MiB", "38.0 MiB")
    assert note.endswith(f"MemoryMax 907.0 MiB may kill it, {found.group(2)} would not")


@pytest.mark.parametrize("budget", ["1GB", "2GB", "8GB"])
@pytest.mark.parametrize("members", [1, 3])
def test_the_headline_names_the_largest_need(budget: str, members: int) -> None:
    report = prepare("3.7.3", BUSY, members, budget)
    figures, said = report.plan["estimate"], " ".join(summary(report))
    most = max(figures["memory_max_least"], figures["memory_max_with_snapshot"])
    found = NEEDED.search(said)
    assert found is not None and found.group(1, 2) == (format_size(most), None)
    assert not any("may kill it" in note for note in report.plan["notes"])


def test_default_flags_fit_only_with_room_for_a_leader() -> None:
    """The default flags of 3.7 need less after a restart than as a leader here, so a budget between the two does not fit them."""
    idle = {"value_size": "10KB", "puts_per_second": 500}
    figures = prepare("3.7.3", idle, 3, "8GB").defaults
    least, leader = figures["memory_max_least"], figures["memory_max_with_snapshot"]
    assert least < leader
    for budget, fits in ((least, False), (leader, True)):
        said = " ".join(summary(prepare("3.7.3", idle, 3, budget)))
        assert f"a member needs up to {format_size(leader)}" in said
        assert ("which fits MemoryMax too" in said) is fits


def test_flags_to_copy_are_spelt_as_the_release_does() -> None:
    old, new = (text_lines(prepare(version, LARGE, 3, "8GB")) for version in ("3.5.35", "3.7.3"))
    assert any(line.startswith("  --experimental-snapshot-catchup-entries=") for line in old)
    assert any(line.startswith("  --snapshot-catchup-entries=") for line in new)
    assert any(re.fullmatch(r"  Environment=GOMEMLIMIT=[0-9]+MiB", line) for line in new)
    assert "  MemoryMax=8192M" in new
    pinned = text_lines(prepare("3.7.3", {}, 3, "8GB", {"memory_mlock": True}))
    assert "  --memory-mlock=true" in pinned


@pytest.mark.parametrize("is_locked", [False, True])
def test_a_unit_may_lock_the_database(is_locked: bool) -> None:
    """systemd's default of 8 MiB ends an etcd with memory-mlock."""
    lines = text_lines(prepare("3.7.3", {}, 1, "4GB", {"memory_mlock": is_locked}))
    assert ("  LimitMEMLOCK=infinity" in lines) is is_locked


@pytest.mark.parametrize("asked", ASKED)
def test_stacks_add_up(asked: dict[str, Any]) -> None:
    report = prepare(**asked)
    for group, figures in zip(groups(report), (report.defaults, report.plan["estimate"])):
        peaks = ["rss_anon_peak", "restart_rss_anon_peak", "follower_snapshot_rss_anon_peak"]
        assert len(group.bars) == (3 if figures["members"] > 1 else 2)
        running, restart = group.bars[:2]
        for stack, peak in zip(group.bars, peaks):
            assert set(stack.high) | set(stack.low) <= set(PARTS)
            assert sum(stack.high.values()) == max(figures[peak], figures["rss_anon_peak"]) + figures["outside_go"]
            assert stack.high[GARBAGE] > 0
        assert all(running.low.get(part, 0) <= size for part, size in running.high.items())
        assert sum(restart.low.values()) <= sum(restart.high.values())
    assert "(assumed)" in caption(report)[1] or asked["workload"] == LARGE


class Checker(HTMLParser):
    """Counts elements and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole() -> None:
    report = prepare("3.7.3", LARGE, 3, "2GB")
    text = page(report, b"<?xml version='1.0'?>\n<!DOCTYPE svg>\n<svg><g></g></svg>\n").decode()
    checker = Checker()
    checker.feed(text)
    assert checker.open == [] and checker.seen.count("table") == 4 and checker.seen.count("svg") == 1
    assert "<?xml" not in text and "DOCTYPE" not in text
    assert "http" not in text  # nothing is fetched
    for flag in report.plan["flags"]:
        assert f"<td>{flag['name']}</td>" in text
