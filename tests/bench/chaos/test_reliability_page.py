# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of the fault campaign: their files, and the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.chaos import report
from bench.chaos.cases import BEFORE
from bench.chaos.run import Campaign
from bench.common.campaign import results
from bench.common.campaign.case import KILL, UNDISTURBED, Case
from bench.common.campaign.faults import FAULTS
from bench.common.campaign.play import Point, Step
from bench.common.campaign.walk import AFTER, MIDDLE

STEPS = [
    Step(Point("Look"), "ansible.builtin.stat", False, 1.0),
    Step(Point("Write"), "ansible.builtin.copy", True, 0.2),
    Step(Point("Look", 2), "ansible.builtin.stat", False, 0.8),
    Step(Point("Wait"), "etcdops.headroom.etcd_member", False, 1.0),
]


def a_row(**changed: Any) -> results.Row:
    row = results.Row(
        operation="change",
        fault=KILL,
        at="Look (2)",
        date="2026-01-01",
        commit="abc1234",
        seconds=60.0,
        run_seconds=5.5,
        writes=1200,
        failed=0,
        failed_otherwise=0,
        lost=0,
        pause=1.2,
        code="killed",
        said="killed when it began: Look (2)",
        next_code="0",
        next_said="",
        next_seconds=30.5,
        converged=True,
        unchanged=True,
        last_said="",
        load=1.5,
        problem="",
        tasks="",
    )
    return replace(row, **changed)


MACHINE = {"cores": "2", "memory": "8 GiB", "kernel": "6.1", "filesystem": "ext4"}


def test_a_row_counts_its_kills() -> None:
    assert a_row().kills == 1 and a_row(code="0").kills == 0
    assert a_row(tasks="Look (2); Write").kills == 3


def test_files_keep_what_was_measured(tmp_path: Path) -> None:
    assert results.read(tmp_path, results.Row) == ({}, [], {})
    rows = [a_row(), a_row(fault="disk full", at="", said='a "b", c | d', code="2", converged=False)]
    results.write(tmp_path, MACHINE, rows, {"change": STEPS})
    assert results.read(tmp_path, results.Row) == (MACHINE, rows, {"change": STEPS})


def test_a_campaign_goes_on_with_the_cases_that_are_missing(tmp_path: Path) -> None:
    def pending(*faults: str) -> list[Case]:
        return Campaign(tmp_path, (), operations=["change"], faults=faults, seed=1).pending()

    assert pending(KILL) == [Case("change", UNDISTURBED)]  # its run shows where the play can be killed
    every = pending()
    results.write(tmp_path, MACHINE, [a_row(fault=UNDISTURBED, at=""), a_row(fault="disk full", at="")], {})
    assert pending() == [case for case in every if case.fault not in (UNDISTURBED, "disk full")]
    results.write(tmp_path, MACHINE, [a_row(fault=UNDISTURBED, at=""), a_row()], {"change": STEPS})
    assert sorted(case.at for case in pending(KILL)) == sorted([BEFORE, AFTER, MIDDLE])
    assert [case.fault for case in pending("disk full")] == ["disk full"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lost": 2}, "2 acknowledged writes lost"),
        ({"failed": 3}, "3 writes failed while a majority served"),
        ({"converged": False}, "neither the run nor the next one finished the work"),
        (
            {"unchanged": False, "last_said": "changed something: Write"},
            "site.yml, once more: changed something: Write",
        ),
        ({"problem": "the run ended before the kill"}, "the run ended before the kill"),
    ],
)
def test_what_missed_an_aim_is_said(changed: dict[str, Any], said: str) -> None:
    assert a_row().holds and report.misses([a_row()]) == ["- none"]
    row = a_row(**changed)
    assert not row.holds
    [line] = report.misses([row])
    assert line.startswith("- change: killed at Look (2): ") and said in line


def test_failed_writes_are_compared_with_those_without_an_operation() -> None:
    alone = a_row(operation="nothing", fault="disk slow", at="", code="0", failed=9)
    rows = [alone, a_row(fault="disk slow", at="", failed=10), a_row(failed=1)]
    assert "**20** ✗, in 3 of 3 cases; 19 of them under faults" in report.claims(rows)[3]
    assert "- change: disk slow: 10 writes failed while a majority served, 9 without an operation." in report.misses(
        rows
    )
    assert "without an operation" not in report.claims([a_row(failed=1)])[3]


def test_the_page_says_what_was_run_and_what_was_not() -> None:
    rows = [a_row(), a_row(at="Report", failed=2), a_row(fault="leader cut off", at="", code="2", said="a | b")]
    text = report.document(MACHINE, rows, {"change": STEPS})
    assert "{{" not in text
    assert "| change    | killed         | 0 of 3 |     2 |  2,400 | **2** ✗ + 0 |    0 |" in text
    assert "exit 2: a \\| b" in text
    assert f"- change: none, killed ({BEFORE}, {MIDDLE}, {AFTER}), member killed" in text
    assert "In 2 more cases, one run was killed at one task." in text
    assert "- deploy: none, killed, at any task" in text
    assert "Kills" not in text and "whose tasks are not known yet" in text
    assert all(fault.about in text for fault in FAULTS)


def test_the_page_is_what_the_files_say() -> None:
    assert report.PAGE.read_text() == report.document(*results.read(report.measuring.RESULTS, results.Row))
