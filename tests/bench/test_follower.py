# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of a leader while a follower receives a snapshot: its budgets, and its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.common.tables import read_rows
from bench.follower.cases import CASES, LEAST, ROOM, Case
from bench.follower.report import claims, memory
from bench.follower.run import Row

MIB = 1 << 20
ROW = Row(
    case="a",
    date="2026-11-27",
    version="3.7.3",
    value_size=4000,
    stated_puts_per_second=700,
    puts_per_second=650.0,
    budget=ROOM,
    memory_max=200 * MIB,
    gomemlimit="",
    snapshot_count=5000,
    snapshot_catchup_entries=1000,
    planned_rss_anon_peak=40 * MIB,
    planned_restart_rss_anon_peak=60 * MIB,
    planned_follower_snapshot_rss_anon_peak=150 * MIB,
    rss_anon_before=35 * MIB,
    rss_anon_peak=120 * MIB,
    snapshots=1,
    oom_kills=0,
    outcome="survived",
)


@pytest.mark.parametrize("case", [case for case in CASES if case.budget == ROOM], ids=lambda case: case.name)
def test_only_one_of_the_two_budgets_has_room(case: Case) -> None:
    room, least = case.plan(), replace(case, budget=LEAST).plan()
    assert room["memory_max"] > least["memory_max"]
    for planned, fits in ((room, True), (least, False)):
        needed = planned["estimate"]["follower_snapshot_rss_anon_peak"] + planned["estimate"]["outside_go"]
        assert (needed <= planned["memory_high"]) is fits


def test_the_report_counts_the_leaders_that_were_killed() -> None:
    killed = replace(ROW, case="b", budget=LEAST, outcome="killed", oom_kills=1, rss_anon_peak=190 * MIB)
    lines = claims([ROW, killed])
    assert lines[0] == "- With room for it in the plan, the leader was killed in 0 of 1 cases."
    assert lines[1] == "- With the smallest budget that has a plan, the leader was killed in 1 of 1 cases."
    assert lines[2].startswith(
        "- Of 1 leaders that survived, 1 took more than the planned peak of a running member; of all 2, 1 took more "
    )
    assert "**killed**" in memory([ROW, killed])[-1]


def test_every_case_is_measured_and_every_leader_with_room_survived() -> None:
    rows = read_rows(Path(__file__).parents[2] / "bench" / "follower" / "results.csv", Row)[1]
    assert {row.case for row in rows} == {case.name for case in CASES}
    assert all(row.snapshots for row in rows if row.outcome == "survived")
    assert {row.outcome for row in rows if row.budget == ROOM} == {"survived"}
