# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The timers of several hosts under NOSPACE, which rules out a lock: the real programs on a simulated cluster and clock.

Real etcd is defragmented under NOSPACE in tests/integration, in seconds; here a member takes longer than the others wait.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import one_member, rolling
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import HostCapacity, Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import Outcome, Request
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import ClusterView
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics

NOWHERE = Connection("/nowhere/etcdctl", None, None, None, 0.5)
VIEW_SECONDS = 0.5


class Clock:
    """A clock of several threads: while all of them sleep, it jumps to the first one that wakes up."""

    def __init__(self, threads: int) -> None:
        self.now = 0.0
        self._awake = threads
        self._turns = itertools.count()
        self._sleepers: list[tuple[float, int]] = []
        self._changed = threading.Condition()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self._changed:
            this = (self.now + seconds, next(self._turns))
            heapq.heappush(self._sleepers, this)
            self._awake -= 1
            self._changed.notify_all()
            while self._awake or self._sleepers[0] != this:
                assert self._changed.wait(60), "the simulation stands still"
            heapq.heappop(self._sleepers)
            self.now = this[0]
            self._awake += 1

    def end_thread(self) -> None:
        with self._changed:
            self._awake -= 1
            self._changed.notify_all()


@dataclass
class Simulation:
    """Members of 1000 MiB, 900 MiB of them free, all full; ``leads`` may change by itself at ``election`` seconds."""

    seconds: Mapping[str, float]  # that a member's defragmentation takes
    leads: str
    clock: Clock
    election: tuple[float, str] | None = None
    busy: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    spans: list[tuple[float, float, str]] = field(default_factory=list)

    def view(self, *_arguments: object) -> ClusterView:
        if self.election and self.clock.now >= self.election[0]:
            self.leads, self.election = self.election[1], None
        found = self._snapshot()
        self.clock.sleep(VIEW_SECONDS)
        return found

    def _snapshot(self) -> ClusterView:
        members = [
            Member(
                name,
                name,
                "leader" if name == self.leads else "follower",
                name not in self.busy,
                "no answer in time" if name in self.busy else "",
                f"http://{name}:2379",
                [],
                [],
                db_size=(100 if name in self.done else 1000) * MIB,
                db_size_in_use=100 * MIB,
                db_quota=1000 * MIB,
                lag=0,
            )
            for name in self.seconds
        ]
        metrics: dict[str, MemberMetrics | str] = {
            name: MemberMetrics(0, 0, defragmenting=name in self.busy, bytes_per_revision=None, quota=1000 * MIB)
            for name in self.seconds
        }
        voters = len(members)
        quorum = Quorum(voters, voters // 2 + 1, voters, True)
        alarms = [{"member": self.leads, "type": "NOSPACE"}]
        return ClusterView(Cluster("1", self.leads, members, quorum, alarms), metrics)

    def defrag(self, argv: list[str], *_arguments: object) -> ProcessResult:
        name = next(name for name in self.seconds if f"http://{name}:2379" in " ".join(argv))
        began = self.clock.now
        self.busy.add(name)
        self.clock.sleep(self.seconds[name])
        self.busy.remove(name)
        self.done.add(name)
        self.spans.append((began, self.clock.now, name))
        return ProcessResult(0, "", "")

    def move_leader(self, _connection: object, _endpoint: str, target: str) -> str:
        self.leads = target
        return ""

    def run_timers(self, after: Mapping[str, float], wait: int = 3600) -> dict[str, Outcome]:
        """Run each host's timer after this many seconds. Returns its outcome by name."""

        def host(name: str) -> Outcome:
            try:
                self.clock.sleep(after[name])
                request = Request([f"http://{name}:2379"], name, False, Thresholds(45, 100 * MIB), wait=wait)
                (outcome,) = rolling.run_defrag(request, NOWHERE)
                return outcome
            finally:
                self.clock.end_thread()

        with ThreadPoolExecutor(len(after)) as pool:
            outcomes = dict(zip(after, pool.map(host, after)))
        self.spans.sort()
        return outcomes

    def overlaps(self) -> list[tuple[Any, Any]]:
        """Return the pairs of defragmentations in succession that ran at the same time."""
        return [(one, other) for one, other in zip(self.spans, self.spans[1:]) if other[0] < one[1]]

    def order(self) -> list[str]:
        return [name for _began, _ended, name in self.spans]


@pytest.fixture(name="simulate")
def a_simulation(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Simulation]:
    def no_space(*_arguments: object, **_options: object) -> None:
        raise lock.NoSpaceError("etcdserver: mvcc: database space exceeded")

    def build(seconds: Mapping[str, float], leads: str, hosts: int, **other: Any) -> Simulation:
        made = Simulation(seconds, leads, Clock(hosts), **other)
        for module in (rolling, one_member):
            monkeypatch.setattr(module, "time", made.clock)
            monkeypatch.setattr(module, "view_cluster", made.view)
        monkeypatch.setattr(rolling, "_lock_holder", lambda *_arguments: "")
        monkeypatch.setattr(rolling, "restore_limit", lambda *_arguments: "")
        monkeypatch.setattr(lock, "hold_lock", no_space)
        monkeypatch.setattr(one_member, "_host_capacity", lambda *_arguments: HostCapacity(""))
        monkeypatch.setattr(one_member, "disarm_nospace", lambda *_arguments: [])
        monkeypatch.setattr(one_member, "move_leader", made.move_leader)
        monkeypatch.setattr(one_member, "run_etcd_tool", made.defrag)
        return made

    return build


def test_a_long_defragmentation_does_not_use_up_the_patience_for_the_next_member(
    simulate: Callable[..., Simulation],
) -> None:
    """f1 takes longer than a member waits for another one."""
    names = ["f1", "f2", "f3", "f4", "l"]
    cluster = simulate({**dict.fromkeys(names, 60.0), "f1": 350.0}, "l", 5)
    outcomes = cluster.run_timers({name: 0.1 * place for place, name in enumerate(names)})
    assert cluster.overlaps() == []
    assert {name: outcome.result for name, outcome in outcomes.items()} == dict.fromkeys(names, "done"), outcomes
    assert cluster.order() == names
    assert outcomes["l"].moved_to in ("f1", "f2", "f3", "f4")


def test_the_leader_and_a_late_follower_do_not_overlap(simulate: Callable[..., Simulation]) -> None:
    cluster = simulate({"f1": 350.0, "f2": 60.0, "l": 60.0}, "l", 3)
    outcomes = cluster.run_timers({"f1": 0.0, "f2": 1.6, "l": 0.0})
    assert cluster.overlaps() == []
    assert [outcome.result for outcome in outcomes.values()] == ["done"] * 3, outcomes
    assert cluster.order() == ["f1", "f2", "l"]


@pytest.mark.parametrize("election", [0.1, 0.3, 0.6, 0.8, 1.1])
@pytest.mark.parametrize("late", [0.0, 0.2, 0.4, 0.7, 1.0, 3.0, 5.0])
def test_an_election_while_two_members_decide(
    simulate: Callable[..., Simulation], election: float, late: float
) -> None:
    """One sees the order of before, the other one that of after: both are the first."""
    cluster = simulate({"a": 60.0, "b": 60.0, "c": 60.0}, "c", 2, election=(election, "b"), done={"a"})
    outcomes = cluster.run_timers({"b": 0.0, "c": late})
    assert cluster.overlaps() == []
    assert [outcome.result for outcome in outcomes.values()] == ["done"] * 2, outcomes


def test_members_whose_host_is_down_are_waited_for_once(simulate: Callable[..., Simulation]) -> None:
    cluster = simulate(dict.fromkeys(("f1", "f2", "f3", "l"), 60.0), "l", 3)
    outcomes = cluster.run_timers({"f2": 0.0, "f3": 0.0, "l": 0.0})
    assert cluster.overlaps() == []
    assert [outcome.result for outcome in outcomes.values()] == ["done"] * 3, outcomes
    assert cluster.order() == ["f2", "f3", "l"]
    began = [span[0] for span in cluster.spans]
    assert rolling.PATIENCE_SECONDS <= began[0] < rolling.PATIENCE_SECONDS + 60
    assert began[-1] < 4 * rolling.PATIENCE_SECONDS


def test_a_member_that_is_refused_waits_until_its_limit(simulate: Callable[..., Simulation]) -> None:
    """f1 stays busy for longer than l may wait, for example because its disk is slow."""
    cluster = simulate({"f1": 5000.0, "l": 60.0}, "l", 2)
    outcomes = cluster.run_timers({"f1": 0.0, "l": 0.0}, wait=1000)
    assert outcomes["l"].result == "skipped" and outcomes["l"].transient
    assert outcomes["l"].reason == "f1 goes first (waited 1000 s)"
    assert cluster.order() == ["f1"]


def test_a_status_that_times_out_is_no_reason_to_go(
    simulate: Callable[..., Simulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its status, f1 seems to have no work left."""
    cluster = simulate({"f1": 60.0, "f2": 60.0, "l": 60.0}, "l", 3)
    snapshot = cluster._snapshot

    def without_one_status() -> ClusterView:
        found = snapshot()
        if 0.0 < cluster.clock.now < 3.0:
            found.cluster.members[0] = replace(found.cluster.members[0], db_size=None)
        return found

    monkeypatch.setattr(cluster, "_snapshot", without_one_status)
    outcomes = cluster.run_timers({"f1": 5.0, "f2": 1.0, "l": 0.0})
    assert cluster.overlaps() == []
    assert [outcome.result for outcome in outcomes.values()] == ["done"] * 3, outcomes
    assert cluster.order() == ["f1", "f2", "l"]
