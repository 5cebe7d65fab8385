# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the campaign that kills the operations of a cluster's life: which kill is next, and the page."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from bench.chaos import results
from bench.chaos.cases import KILL
from bench.chaos.play import Point, Step, parse_point
from bench.common.damage import damage_script
from bench.lifecycle import kills, report
from bench.lifecycle.kills import Row
from bench.lifecycle.operations import OPERATIONS

NAMES = [make().name for make in OPERATIONS]


def a_row(operation: str, number: int, **changed: Any) -> Row:
    values: dict[str, Any] = {
        "operation": operation, "fault": KILL, "at": "*, after 3.5 s", "date": "2026-01-01", "commit": "abc1234", "seconds": 60.0,
        "run_seconds": 5.5, "writes": 1200, "failed": 0, "failed_otherwise": 1, "lost": 0, "pause": 1.2, "code": "killed",
        "said": "killed in: Start the learner", "next_code": "0", "next_said": "", "next_seconds": 30.5, "converged": True, "unchanged": True,
        "last_said": "", "load": 1.5, "problem": "", "number": number, "members": "",
    }  # fmt: skip
    return Row(**{**values, **changed})


def test_the_operations_are_killed_in_turn_until_each_has_its_kills() -> None:
    first, second = NAMES[:2]
    assert kills.next_kill([], NAMES) == (first, 1)
    assert kills.next_kill([a_row(first, 1)], NAMES) == (second, 1)
    assert kills.next_kill([a_row(first, 1), a_row(second, 0)], NAMES) == (second, 1), (
        "an undisturbed run does not count as a kill"
    )
    every = [a_row(name, number) for name in NAMES for number in range(1, kills.KILLS + 1)]
    assert kills.next_kill(every, NAMES) is None
    assert kills.next_kill(every[1:], NAMES) == (first, 1)


def test_a_kill_is_drawn_from_the_time_after_the_first_change() -> None:
    steps = [Step(Point("Look"), "a", False, 5), Step(Point("Write"), "a", True, 2), Step(Point("Wait"), "a", False, 8)]
    assert kills.length(steps) == 8
    assert kills.length(steps[:1]) == 0
    drawn = [parse_point(kills.draw("grow", number, 8.0, 1).at) for number in range(1, 11)]
    assert {point.task for point in drawn} == {"*"} and len({point.after for point in drawn}) > 5
    assert all(0 < point.after <= 8 for point in drawn)
    assert kills.draw("grow", 1, 8.0, 1) == kills.draw("grow", 1, 8.0, 1)


def test_results_are_kept_for_the_next_campaign(tmp_path: Path) -> None:
    rows = [a_row(NAMES[0], 1), a_row(NAMES[1], 1, members="etcd-2 is a learner")]
    results.write(tmp_path, {"cores": "2"}, rows, {}, Row)
    assert results.read(tmp_path, Row)[1] == rows


def test_the_tables_mark_what_went_wrong() -> None:
    rows = [
        a_row(NAMES[0], 1, failed=9, load=9.0),
        a_row(NAMES[0], 2, failed=3, members="etcd-2 is a learner", unchanged=False, last_said="a | b"),
    ]
    found = "\n".join([*report.summary(rows, 2), *report.cases(rows)])
    assert "2 of 10" in found and "**3** ✗ in 1" in found and "**1 of 2** ✗" in found
    assert "etcd-2 is a learner" in found and "Start the learner" in found and "a \\| b" in found


def test_a_value_is_damaged_in_the_database(tmp_path: Path) -> None:
    path = tmp_path / "db"
    path.write_bytes(b"key the-value key")
    program = re.search(r'python3 -c "(.+?)" &&', damage_script("the-value"))
    assert program
    subprocess.run(["python3", "-c", re.sub(r"'/var/lib[^']+'", repr(str(path)), program[1])], check=True)
    assert path.read_bytes() == b"key THE-VALUE key"


def test_the_page_has_the_measured_kills() -> None:
    machine, rows, _ = results.read(kills.RESULTS, Row)
    assert f"{report.BEGIN}{report.text(machine, rows)}{report.END}" in report.PAGE.read_text()
