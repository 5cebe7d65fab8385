# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The campaign that kills upgrades and changes of members: the choice of the next kill, and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.common.campaign import results
from bench.common.campaign.case import KILL
from bench.common.campaign.play import Point, Step
from bench.lifecycle import kills, report
from bench.lifecycle.kills import Row
from bench.lifecycle.operations import OPERATIONS

NAMES = [make().name for make in OPERATIONS]
TASKS = ["Stop the member", *["Wait until it serves"] * 9]


def a_row(operation: str, kills: int, **changed: Any) -> Row:
    values: dict[str, Any] = {
        "operation": operation, "fault": KILL, "at": "*, after 3.5 s", "date": "2026-01-01", "commit": "abc1234", "seconds": 60.0,
        "run_seconds": 5.5, "writes": 1200, "failed": 0, "failed_otherwise": 1, "lost": 0, "pause": 1.2, "code": "killed" if kills else "0",
        "said": "killed in: Start the learner", "next_code": "0", "next_said": "", "next_seconds": 30.5, "converged": True, "unchanged": True,
        "last_said": "", "load": 1.5, "problem": "", "tasks": "; ".join(TASKS[: kills - 1]), "members": "",
    }  # fmt: skip
    return Row(**{**values, **changed})


def test_the_operation_that_was_killed_least_is_next() -> None:
    first, second, third = NAMES[:3]
    assert kills.next_case([], NAMES) == (first, 0)
    assert kills.next_case([a_row(first, 4), a_row(second, 3), a_row(first, 2)], [first, second]) == (second, 3)
    assert kills.next_case([a_row(first, 4), a_row(third, 0)], NAMES) == (second, 0), (
        "an undisturbed run does not count as a kill"
    )
    every = [a_row(name, kills.KILLS) for name in NAMES]
    assert kills.next_case(every, NAMES) is None
    assert kills.next_case([*every[1:], a_row(first, 6)], NAMES) == (first, 6)


def test_kills_are_drawn_from_the_time_after_the_first_change() -> None:
    steps = [Step(Point("Look"), "a", False, 5), Step(Point("Write"), "a", True, 2), Step(Point("Wait"), "a", False, 8)]
    assert kills.length(steps) == 8
    assert kills.length(steps[:1]) == 0
    drawn = kills.draw("grow", 0, 80.0, 1)
    assert len(drawn) == kills.KILLS and {point.task for point in drawn} == {"*"}
    assert len({point.after for point in drawn}) > 5 and all(0 < point.after <= 20 for point in drawn)
    assert kills.draw("grow", 6, 80.0, 1) == drawn[6:], "another case goes on with the kills that are missing"


def test_results_are_kept_for_the_next_campaign(tmp_path: Path) -> None:
    rows = [a_row(NAMES[0], 1), a_row(NAMES[1], 1, members="etcd-2 is a learner")]
    results.write(tmp_path, {"cores": "2"}, rows, {}, Row)
    assert results.read(tmp_path, Row)[1] == rows


def test_the_tables_of_cases_mark_missed_aims() -> None:
    rows = [
        a_row(NAMES[0], 1, failed=9, load=9.0),
        a_row(NAMES[0], 3, failed=3, members="etcd-2 is a learner", unchanged=False, last_said="a | b"),
    ]
    found = "\n".join([*report.summary(rows, 2), *report.cases(rows)])
    assert (
        "4 of 10" in found
        and "Start the learner, then Stop the member, then Wait until it serves" in found
        and "**3** ✗ in 1" in found
        and "**1 of 2** ✗" in found
    )
    assert "etcd-2 is a learner" in found and "a \\| b" in found


def test_the_pages_have_the_measured_kills() -> None:
    machine, rows, _ = results.read(kills.RESULTS, Row)
    text = report.document(machine, rows)
    assert "{{" not in text and report.PAGE.read_text() == text
    assert f"{report.BEGIN}{report.part(machine, rows)}{report.END}" in report.TASKS_PAGE.read_text()


def test_the_claims_mark_missed_aims() -> None:
    rows = [a_row(NAMES[0], 2, failed=9, load=9.0), a_row(NAMES[1], 3, failed=3, lost=1, converged=False)]
    assert report.claims({"cores": "2"}, rows) == [
        "- Runs that were killed: 5, of 2 operations.",
        "- Acknowledged writes lost: **1** ✗ of 2,400.",
        "- Writes failed while a majority served: **3** ✗.",
        "- Recovered by the next run: **1 of 2** ✗ cases, with the right members in 2 of 2.",
        "- `site.yml` changed nothing after that: 2 of 2 cases.",
    ]
