# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defragmenting all members from one host, and statuses that time out. Real etcd is defragmented in tests/integration."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import one_member, rolling
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import HostCapacity, Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import Outcome, Request
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import (
    Cluster,
    Member,
    Quorum,
    unreachable_cluster,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import ClusterView
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics

NOWHERE = Connection("/nowhere/etcdctl", None, None, None, 0.5)
REQUEST = Request(["http://127.0.0.1:1"], "", True, Thresholds(45, 100 * MIB), unit="headroom-unit-test.service")


def cluster_with_free_space(free: int) -> ClusterView:
    """Return three members, the first one leading, with this many free bytes of 1000 MiB each."""
    members = [
        Member(
            name,
            name,
            "leader" if name == "m0" else "follower",
            True,
            "",
            f"http://{name}:2379",
            [],
            [],
            db_size=1000 * MIB,
            db_size_in_use=1000 * MIB - free,
            lag=0,
        )
        for name in ("m0", "m1", "m2")
    ]
    return ClusterView(Cluster("1", "m0", members, Quorum(3, 2, 3, True), []), {})


@pytest.mark.parametrize("check", [False, True])
def test_every_member_that_is_skipped_is_named(monkeypatch: pytest.MonkeyPatch, check: bool) -> None:
    monkeypatch.setattr(rolling, "view_cluster", lambda *_arguments: cluster_with_free_space(100 * MIB))
    monkeypatch.setattr(rolling, "restore_limit", lambda *_arguments: "")
    monkeypatch.setattr(rolling, "_lock_holder", lambda *_arguments: "")
    outcomes = rolling.run_defrag(REQUEST, NOWHERE, check=check)
    assert [outcome.reason for outcome in outcomes] == [
        f"{name} does not need defragmentation: 100.0 MiB of 1000.0 MiB (10 %) are free; the thresholds are 45 % and 100.0 MiB"
        for name in ("m0", "m1", "m2")
    ]
    assert all(outcome.settled for outcome in outcomes)


@pytest.mark.parametrize("alarms", [[], ["NOSPACE"], ["NOSPACE", "CORRUPT"]])
def test_check_mode_announces_that_nospace_is_disarmed(
    simulate: Callable[..., Simulation], monkeypatch: pytest.MonkeyPatch, alarms: list[str]
) -> None:
    view = simulate().view()
    view.cluster.alarms.extend([{"member": "m0", "type": kind} for kind in alarms])
    monkeypatch.setattr(rolling, "view_cluster", lambda *_arguments: view)
    outcomes = rolling.run_defrag(REQUEST, NOWHERE, check=True)
    told = [
        outcome.reason.endswith(
            "; the alarm NOSPACE would be disarmed after the last member, if each database is then below 90 % of its quota"
        )
        for outcome in outcomes
    ]
    assert told == [alarms == ["NOSPACE"]] * 3


@contextlib.contextmanager
def held_lock(*_arguments: object, **_options: object) -> Iterator[None]:
    yield None


def test_the_rest_is_skipped_by_name_once_the_lock_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def defragment(_request: Request, _connection: Connection, name: str, _keeper: object) -> Outcome:
        order.append(name)
        if len(order) > 1:
            raise lock.LockLostError("the cluster's lock was lost: its lease expired")
        return Outcome(name, "done", f"{name}: 2.0 MiB became 1.0 MiB", settled=True)

    monkeypatch.setattr(rolling, "view_cluster", lambda *_arguments: cluster_with_free_space(700 * MIB))
    monkeypatch.setattr(rolling, "restore_limit", lambda *_arguments: "")
    monkeypatch.setattr(rolling, "_hold_lock", held_lock)
    monkeypatch.setattr(rolling, "defragment_member", defragment)
    outcomes = rolling.run_defrag(REQUEST, NOWHERE)
    assert order == ["m1", "m2"]  # followers first, then nobody
    assert {outcome.member: outcome.reason for outcome in outcomes} == {
        "m0": "m0 was not defragmented: the cluster's lock was lost: its lease expired",
        "m1": "m1: 2.0 MiB became 1.0 MiB",
        "m2": "m2 was not defragmented: the cluster's lock was lost: its lease expired",
    }


IDLE = MemberMetrics(0, 0, defragmenting=False, bytes_per_revision=None, quota=2000 * MIB)
NO_STATUS = {"db_size": None, "db_size_in_use": None, "lag": None, "status_error": "no answer in time"}
DOWN = {**NO_STATUS, "healthy": False, "health_error": "it is down"}


@dataclass
class Simulation:
    """m0, m1 and m2, with 900 MiB of 1000 MiB free until they are defragmented. A look takes a second, a defragmentation 60.

    faults: what differs of a member, by its name, or of the cluster (``""``), between two seconds. lock_until: another host holds the lock.
    """

    faults: dict[str, tuple[float, float, dict[str, Any]]] = field(default_factory=dict)
    lock_until: float = 0.0
    done: list[str] = field(default_factory=list)
    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def view(self, *_arguments: object) -> ClusterView:
        self.now += 1
        found = {name: values for name, (begin, end, values) in self.faults.items() if begin <= self.now < end}
        if "" in found:
            return ClusterView(unreachable_cluster("connection refused"), {})
        cluster = cluster_with_free_space(900 * MIB).cluster
        for place, member in enumerate(cluster.members):
            size = {"db_size": 100 * MIB} if member.name in self.done else {}
            cluster.members[place] = replace(member, **{**size, **found.get(member.name, {})})
        return ClusterView(cluster, {member.name: IDLE for member in cluster.members})

    def lock_holder(self, *_arguments: object) -> str:
        return "m2 holds the cluster's lock" if self.now < self.lock_until else ""

    def defragment(self, _request: Request, _connection: Connection, name: str, _keeper: object) -> Outcome:
        self.now += 60
        self.done.append(name)
        return Outcome(name, "done", f"{name}: 1000.0 MiB became 100.0 MiB", settled=True)


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Simulation]:
    def build(**given: Any) -> Simulation:
        made = Simulation(**given)
        monkeypatch.setattr(rolling, "time", made)
        monkeypatch.setattr(rolling, "view_cluster", made.view)
        monkeypatch.setattr(rolling, "_lock_holder", made.lock_holder)
        monkeypatch.setattr(rolling, "_hold_lock", held_lock)
        monkeypatch.setattr(rolling, "restore_limit", lambda *_arguments: "")
        monkeypatch.setattr(rolling, "defragment_member", made.defragment)
        monkeypatch.setattr(one_member, "_host_capacity", lambda *_arguments: HostCapacity(""))
        return made

    return build


LOCAL = replace(REQUEST, member="m1", all_members=False, in_turn=False)


@pytest.mark.parametrize("lock_until", [0.0, 100.0], ids=["at once", "after a wait for the lock"])
@pytest.mark.parametrize(
    "fault",
    [("m1", NO_STATUS), ("m1", DOWN), ("", {}), ("m2", DOWN)],
    ids=["status", "member", "cluster", "another member"],
)
def test_a_short_problem_is_waited_for(
    simulate: Callable[..., Simulation], fault: tuple[str, dict[str, Any]], lock_until: float
) -> None:
    name, values = fault
    simulation = simulate(faults={name: (lock_until, lock_until + 20, values)}, lock_until=lock_until)
    (outcome,) = rolling.run_defrag(LOCAL, NOWHERE)
    assert (outcome.result, simulation.done) == ("done", ["m1"]), outcome
    assert simulation.now < lock_until + 20 + 2 * rolling.POLL_SECONDS + 60


@pytest.mark.parametrize("began", [0.0, 100.0])
@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("m1", NO_STATUS, "m1 returned no status: no answer in time"),
        ("", {}, "no member of the cluster answers (connection refused); start etcd, or set endpoints"),
        ("m2", DOWN, "not every voting member is healthy: m2 (it is down); repair that first"),
    ],
    ids=["status", "cluster", "another member"],
)
def test_a_problem_that_lasts_ends_the_run_with_its_reason(
    simulate: Callable[..., Simulation], name: str, values: dict[str, Any], reason: str, began: float
) -> None:
    simulation = simulate(faults={name: (began, 9999, values)}, lock_until=began)
    (outcome,) = rolling.run_defrag(LOCAL, NOWHERE)
    assert (outcome.reason, outcome.transient, outcome.settled, simulation.done) == (reason, True, False, [])
    assert abs(simulation.now - began - rolling.GRACE_SECONDS) < 2 * rolling.POLL_SECONDS


def test_a_lock_request_without_an_answer_is_repeated(
    simulate: Callable[..., Simulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another host's member is defragmented since the last look."""
    simulation, errors = simulate(), ["granting a lease for the lock: context deadline exceeded"] * 2

    @contextlib.contextmanager
    def hold_lock(*_arguments: object) -> Iterator[None]:
        if errors:
            raise lock.TransientLockError(errors.pop())
        yield None

    monkeypatch.setattr(rolling, "_hold_lock", hold_lock)
    (outcome,) = rolling.run_defrag(LOCAL, NOWHERE)
    assert (outcome.result, simulation.done, errors) == ("done", ["m1"], [])


def test_check_mode_and_a_run_without_a_wait_look_once(simulate: Callable[..., Simulation]) -> None:
    for check, wait, end in ((True, 3600, ""), (False, 0, " (waited 0 s)")):
        simulation = simulate(faults={"m1": (0, 9999, NO_STATUS)})
        (outcome,) = rolling.run_defrag(replace(LOCAL, wait=wait), NOWHERE, check=check)
        assert (outcome.reason, simulation.now) == (f"m1 returned no status: no answer in time{end}", 1)


@pytest.mark.parametrize("fault", [("m0", NO_STATUS), ("", {})], ids=["the member", "the cluster"])
def test_a_member_whose_status_times_out_is_not_forgotten(
    simulate: Callable[..., Simulation], fault: tuple[str, dict[str, Any]]
) -> None:
    """m0 leads, so it is the last one, and its status is missing when the others are done."""
    name, values = fault
    simulation = simulate(faults={name: (100, 140, values)})
    outcomes = rolling.run_defrag(REQUEST, NOWHERE)
    assert simulation.done == ["m1", "m2", "m0"]
    assert {outcome.member: outcome.result for outcome in outcomes} == dict.fromkeys(("m0", "m1", "m2"), "done")


@pytest.mark.parametrize(
    ("values", "reason", "settled"),
    [
        (NO_STATUS, "m0 returned no status: no answer in time", False),
        ({"db_size": 150 * MIB}, "m0 does not need defragmentation: 50.0 MiB of 150.0 MiB (33 %) are free", True),
    ],
    ids=["no status", "nothing left to do"],
)
def test_a_member_that_leaves_the_order_has_an_outcome(
    simulate: Callable[..., Simulation], values: dict[str, Any], reason: str, settled: bool
) -> None:
    simulation = simulate(faults={"m0": (100, 9999, values)})
    outcomes = {outcome.member: outcome for outcome in rolling.run_defrag(REQUEST, NOWHERE)}
    assert simulation.done == ["m1", "m2"] and len(outcomes) == 3
    assert outcomes["m0"].reason.startswith(reason)
    assert (outcomes["m0"].result, outcomes["m0"].settled) == ("skipped", settled)
    assert (simulation.now >= 100 + rolling.GRACE_SECONDS) is not settled


def test_a_member_without_a_status_after_a_failure_is_named(
    simulate: Callable[..., Simulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = simulate(faults={"m0": (2, 9999, NO_STATUS)})

    def fail(_request: Request, _connection: Connection, name: str, _keeper: object) -> Outcome:
        simulation.now += 60
        return Outcome(name, "failed", "its disk is full")

    monkeypatch.setattr(rolling, "defragment_member", fail)
    outcomes = {outcome.member: outcome.reason for outcome in rolling.run_defrag(REQUEST, NOWHERE)}
    rest = "was not defragmented: m1 failed: its disk is full"
    assert outcomes == {"m0": f"m0 {rest}", "m1": "its disk is full", "m2": f"m2 {rest}"}
