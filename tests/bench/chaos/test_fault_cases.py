# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of the fault campaign: where plays and services are killed, and in which order."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from bench.chaos.cases import BEFORE, SAMPLE, before_effects, in_turn, middles, of_operation, plan, seconds_of
from bench.chaos.operations import OPERATIONS
from bench.chaos.plays import BUMP, Restore
from bench.common import write_limits
from bench.common.campaign import faults, play
from bench.common.campaign import measure as measuring
from bench.common.campaign.case import KILL, UNDISTURBED, Case, parse_case
from bench.common.campaign.client import Write
from bench.common.campaign.faults import BY_NAME, Injection
from bench.common.campaign.operation import Lab, Operation
from bench.common.campaign.play import Outcome, Point, Step, parse_point, parse_trace
from bench.common.campaign.walk import AFTER, MIDDLE
from bench.common.lab import PROJECT
from bench.common.write_limits import WriteLimits, writes_of

TRACE = """{"task": "Look", "nth": 1, "action": "ansible.builtin.stat", "at": 1.0}
{"task": "Write", "nth": 1, "action": "ansible.builtin.copy", "at": 2.0}
{"changed": "etcd-1"}
{"changed": "etcd-2"}
{"task": "Look", "nth": 2, "action": "ansible.builtin.stat", "at": 2.2}
{"task": "Wait", "nth": 1, "action": "etcdops.headroom.etcd_member", "at": 3.0}
{"task": "Report", "nth": 1, "action": "ansible.builtin.debug", "at": 4.0}
{"task": "cut o"""
STEPS = [
    Step(Point("Look"), "ansible.builtin.stat", False, 1.0),
    Step(Point("Write"), "ansible.builtin.copy", True, 0.2),
    Step(Point("Look", 2), "ansible.builtin.stat", False, 0.8),
    Step(Point("Wait"), "etcdops.headroom.etcd_member", False, 1.0),
    Step(Point("Report"), "ansible.builtin.debug", False),
]


def test_reads_the_trace_of_a_killed_play() -> None:
    assert list(parse_trace(TRACE)) == STEPS


def test_kills_before_the_first_effect_share_a_case() -> None:
    assert [str(point) for point in before_effects(STEPS)] == ["Look", "Write"]
    assert before_effects([]) == [] and len(before_effects(STEPS[:1])) == 1


def test_tasks_that_have_an_effect_and_take_time_have_a_middle() -> None:
    again = Step(Point("Wait", 2), "etcdops.headroom.etcd_member", True, 0.4)
    assert middles([*STEPS, again]) == {"Wait": 0.2}


def test_how_long_one_run_after_the_other_takes() -> None:
    assert [seconds_of(at, STEPS) for at in (BEFORE, AFTER, "Wait")] == [5.0, 7.0, 0]


@pytest.mark.parametrize(
    "point",
    [Point("Start the member"), Point("Start the member", 3), Point("Write (again)"), Point("Wait, and see", 2, 0.4)],
)
def test_points_are_read_back(point: Point) -> None:
    assert parse_point(str(point)) == point


@pytest.mark.parametrize("case", [*SAMPLE, Case("back up", UNDISTURBED), Case("back up", KILL, "0.1")], ids=str)
def test_cases_are_read_back(case: Case) -> None:
    assert parse_case(str(case)) == case


@pytest.mark.parametrize(
    "text", ["change", "change: on fire", "change: killed", "change: disk full at Start the member"]
)
def test_what_is_not_a_case_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a case, such as"):
        parse_case(text)


def test_cases_begin_undisturbed_and_meet_each_state_once() -> None:
    cases = of_operation("change", STEPS, (), random.Random(1))
    assert cases[0] == Case("change", UNDISTURBED)
    assert {case.fault for case in cases} == {UNDISTURBED, KILL, *BY_NAME} and len(set(cases)) == len(cases)
    killed = [case.at for case in cases if case.fault == KILL]
    assert set(killed) == {BEFORE, AFTER, MIDDLE} and len(killed) == 3


def test_a_service_is_killed_at_moments_and_a_play_without_a_trace_not_yet() -> None:
    moments = [case.at for case in of_operation("back up", (), (0.1, 0.5), random.Random(1)) if case.fault == KILL]
    assert sorted(moments) == ["0.1", "0.5"]
    assert KILL not in {case.fault for case in of_operation("change", (), (), random.Random(1))}


def test_operations_take_turns_in_an_order_that_the_seed_fixes() -> None:
    one, two = [Case("a", "x"), Case("a", "y")], [Case("b", "x")]
    assert in_turn([one, two]) == [one[0], two[0], one[1]]
    moments: dict[str, tuple[float, ...]] = {"change": (), "back up": (0.1, 0.5)}
    orders = [plan({"change": STEPS}, moments, seed) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2] and set(orders[0]) == set(orders[2])


def test_the_sample_names_operations_and_faults() -> None:
    for case in SAMPLE:
        assert case.operation in {make().name for make in OPERATIONS}
        assert case.fault in {KILL, *BY_NAME} and bool(case.at) == (case.fault == KILL)


def test_plays_are_disturbed_at_tasks_that_there_are() -> None:
    names = {
        line.split("name: ", 1)[1].strip()
        for path in (PROJECT / "roles").glob("*/tasks/*.yml")
        for line in path.read_text().splitlines()
        if line.lstrip().startswith("- name: ")
    }
    assert names.issuperset(parse_point(case.at).task for case in SAMPLE if case.fault == KILL)
    points = [operation.point for operation in (make() for make in OPERATIONS) if operation.point]
    assert len(points) >= 6 and names.issuperset(point.task for point in points)


@pytest.mark.parametrize(
    ("codes", "kills", "followed"),
    [
        ([None, None, 0], ["a", "b"], True),
        ([None, 0], ["a", "b"], True),
        ([0], ["a", "b"], False),
        ([1, 0], ["a", "b"], True),
        ([None, 0], [], True),
    ],
)
def test_one_run_after_the_other_is_killed(codes: list[int | None], kills: list[str], followed: bool) -> None:
    asked, left = [], list(codes)

    class Fake(Operation):
        def run(self, lab: Lab, kill: str = "", injection: Injection | None = None) -> Outcome:
            asked.append(kill)
            code = left.pop(0)
            return Outcome(code, "" if code is not None else f"{play.KILLED_IN}{kill}")

    first = Fake().run(Lab(), kills[0] if kills else "case")
    killed, last = measuring._run_to_end(Lab(), Fake(), first, kills[1:])
    assert (
        not left
        and bool(last) == followed
        and [one.said for one in killed] == ["killed in: b"] * (codes.count(None) - 1 if None in codes else 0)
    )
    assert asked == {0: ["a"], 1: ["a", ""], None: ["a", "b", ""][: len(codes)] if kills else ["case", ""]}[codes[0]]


def slow_disk(monkeypatch: pytest.MonkeyPatch, top: Path) -> Injection:
    """Return the fault on a host whose control group of version 2 is below `top`."""
    monkeypatch.setattr(write_limits, "TOP", top)
    monkeypatch.setattr(write_limits, "of_process", lambda _cgroup: WriteLimits(2, "/lab/a"))
    monkeypatch.setattr(faults, "process", lambda _host: os.getpid())
    monkeypatch.setattr(faults, "inside", lambda _host, _script: "7:3\n")
    return Injection(replace(BY_NAME["disk slow"], target=lambda: "etcd-1"))


def test_a_machine_that_cannot_slow_a_disk_down_has_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fault = slow_disk(monkeypatch, tmp_path)
    fault.begin()
    assert not fault.began
    assert (
        fault.problem
        == f"{tmp_path}/lab/a/io.max is missing: the controller io is not enabled for the hosts of the lab"
    )


def test_a_disk_is_slow_until_the_fault_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "lab" / "a" / "io.max"
    file.parent.mkdir(parents=True)
    file.touch()
    fault = slow_disk(monkeypatch, tmp_path)
    fault.begin()
    assert fault.began and writes_of(file.read_text(), "7:3") == faults.SLOW_WRITES
    fault.finish()
    assert not fault.problem and file.read_text() == "7:3 wiops=max"


def test_a_restore_replaces_what_was_written_after_the_snapshot() -> None:
    restore = Restore()
    restore.revision = 100
    kept = [restore.must_survive(Write(0, 0.0, 0.0, revision)) for revision in (99, 100, 101, 5000, 100 + BUMP)]
    assert kept == [True, True, False, False, True]
