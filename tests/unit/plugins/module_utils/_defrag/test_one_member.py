# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a defragmented member. Real etcd is defragmented in tests/integration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import one_member
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import HostCapacity, Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import Outcome, Request
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.alarms import AlarmError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import (
    Cluster,
    Member,
    Quorum,
    unreachable_cluster,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import ClusterView
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Alarm, Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics

NOWHERE = Connection("/nowhere/etcdctl", None, None, None, 0.5)
REQUEST = Request(["http://127.0.0.1:1"], "", True, Thresholds(45, 100 * MIB), pause=0)
FULL = {"db_size": 1000 * MIB, "db_size_in_use": 100 * MIB, "db_quota": 1000 * MIB, "lag": 0}
SMALL = {**FULL, "db_size": 100 * MIB}
# A member that is healthy, but whose status timed out.
NO_STATUS: dict[str, int] = {}


def view(alarm: bool = False, **statuses: dict[str, int]) -> ClusterView:
    """Return healthy members by name; the first one leads."""
    leader = next(iter(statuses))
    members = [
        replace(
            Member(name, name, "leader" if name == leader else "follower", True, "", f"http://{name}:2379", [], []),
            **status,
        )
        for name, status in statuses.items()
    ]
    alarms = [{"member": leader, "type": "NOSPACE"}] if alarm else []
    metrics = MemberMetrics(0, 0, defragmenting=False, bytes_per_revision=None, quota=1000 * MIB)
    return ClusterView(
        Cluster("1", leader, members, Quorum(len(members), 2, len(members), True), alarms),
        dict.fromkeys(statuses, metrics),
    )


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[ClusterView]:
    """The cluster's answers in order, the last one forever; etcdctl succeeds."""
    found: list[ClusterView] = []

    def queries() -> Iterator[ClusterView]:
        yield from found
        while True:
            yield found[-1]

    asked = queries()
    monkeypatch.setattr(one_member, "view_cluster", lambda *_arguments: next(asked))
    monkeypatch.setattr(one_member, "run_etcd_tool", lambda *_arguments: ProcessResult(0, "", ""))
    monkeypatch.setattr(one_member, "disarm_nospace", lambda *_arguments: [Alarm("1", "NOSPACE")])
    monkeypatch.setattr(one_member, "_host_capacity", lambda *_arguments: HostCapacity(""))
    monkeypatch.setattr(one_member, "SETTLE_SECONDS", 0.5)
    monkeypatch.setattr(one_member, "_POLL_SECONDS", 0.01)
    return found


def defragment() -> Outcome:
    return one_member.defragment_member(REQUEST, NOWHERE, "m1", None)


def test_a_status_that_times_out_once_is_requested_again(answers: list[ClusterView]) -> None:
    answers += [view(m0=SMALL, m1=FULL), view(m0=SMALL, m1=NO_STATUS), view(m0=SMALL, m1=SMALL)]
    outcome = defragment()
    assert (outcome.result, outcome.after["size"]) == ("done", 100 * MIB)


class Keeper:
    """The lease of a lock that stays held."""

    def check(self) -> None:
        pass


@pytest.mark.parametrize("status", [NO_STATUS, None], ids=["the member", "the cluster"])
@pytest.mark.parametrize("keeper", [Keeper(), None], ids=["lock", "no lock"])
def test_under_the_lock_a_status_that_times_out_is_requested_again(
    answers: list[ClusterView], keeper: Any, status: dict[str, int] | None
) -> None:
    """Without a lock the caller looks at the order of the members again."""
    silent = ClusterView(unreachable_cluster("connection refused"), {})
    answers += [
        silent if status is None else view(m0=SMALL, m1=status),
        view(m0=SMALL, m1=FULL),
        view(m0=SMALL, m1=SMALL),
    ]
    outcome = one_member.defragment_member(REQUEST, NOWHERE, "m1", keeper)
    expected = ("done", False) if keeper else ("skipped", True)
    assert (outcome.result, outcome.transient) == expected, outcome


def test_under_the_lock_a_member_without_a_status_is_skipped_after_a_while(
    answers: list[ClusterView], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_member, "GRACE_SECONDS", 0.2)
    answers += [view(m0=SMALL, m1=NO_STATUS)]
    keeper: Any = Keeper()
    outcome = one_member.defragment_member(REQUEST, NOWHERE, "m1", keeper)
    assert (outcome.result, outcome.transient) == ("skipped", True)
    assert outcome.reason.startswith("m1 returned no status")


def test_a_member_that_never_returns_its_status_does_not_serve(answers: list[ClusterView]) -> None:
    answers += [view(m0=SMALL, m1=FULL), view(m0=SMALL, m1=NO_STATUS)]
    outcome = defragment()
    assert (outcome.result, outcome.after) == ("failed", {})
    assert outcome.reason == "m1 was defragmented, but does not serve 0.5 s later"


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            "etcdserver: request timed out, leader transfer took too long",
            "m1 still leads after 0.5 s of moving the leadership to m0: etcdserver: request timed out, leader transfer took "
            "too long; check the network between both, and run this again",
        ),
        (
            "",
            "m1 still leads after 0.5 s of moving the leadership to m0; check the network between both, and run this again",
        ),
    ],
)
def test_a_leadership_that_cannot_be_moved_is_the_reason(
    answers: list[ClusterView], monkeypatch: pytest.MonkeyPatch, problem: str, said: str
) -> None:
    monkeypatch.setattr(one_member, "move_leader", lambda *_arguments: problem)
    answers += [view(m1=FULL, m0=SMALL)]
    outcome = defragment()
    assert (outcome.result, outcome.reason, outcome.settled, outcome.transient) == ("skipped", said, False, False)
    assert outcome.moved_to == ("" if problem else "m0")


@pytest.mark.parametrize(
    ("other", "disarmed"),
    [(SMALL, True), (NO_STATUS, False), ({**SMALL, "db_quota": -1}, True)],
    ids=["small", "no status", "no quota"],
)
def test_nospace_stays_while_the_size_of_a_database_is_unknown(
    answers: list[ClusterView], other: dict[str, int], disarmed: bool
) -> None:
    answers += [view(m0=SMALL, m1=FULL, alarm=True), view(m0=other, m1=SMALL, alarm=True)]
    outcome = defragment()
    assert outcome.disarmed is disarmed
    assert outcome.reason.endswith(" freed; disarmed the alarm NOSPACE") is disarmed


def test_an_alarm_of_corruption_is_never_disarmed(answers: list[ClusterView]) -> None:
    """It may be raised during the defragmentation."""
    done = view(m0=SMALL, m1=SMALL, alarm=True)
    done.cluster.alarms.append({"member": "m0", "type": "CORRUPT"})
    answers += [view(m0=SMALL, m1=FULL, alarm=True), done]
    assert defragment().disarmed is False


def test_an_alarm_that_cannot_be_disarmed_is_reported(
    answers: list[ClusterView], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object) -> None:
        raise AlarmError("the alarm CORRUPT of member a is set, and NOSPACE was not disarmed")

    monkeypatch.setattr(one_member, "disarm_nospace", refuse)
    answers += [view(m0=SMALL, m1=FULL, alarm=True), view(m0=SMALL, m1=SMALL, alarm=True)]
    outcome = defragment()
    assert (outcome.result, outcome.disarmed) == ("done", False)
    assert outcome.reason.endswith(" freed; the alarm CORRUPT of member a is set, and NOSPACE was not disarmed")
