# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three members of real etcd go up and down through the releases, with the steps that the playbooks take."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hash_requests import compare_members
from ansible_collections.etcdops.headroom.plugins.module_utils._release import change as release_change
from ansible_collections.etcdops.headroom.plugins.module_utils._release.stored_members import (
    read_members,
    stored_problems,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._release.v2_entries import count_v2_entries
from ansible_collections.etcdops.headroom.plugins.module_utils._release.waits import FLUSH_KEY, ReleaseError, Steps

from bench.common.member import Member, releases
from tests.integration.client import EVENT_SECONDS, connection, etcdctl, run, wait_for_leader, wait_until

OLD, MIDDLE, NEW = releases()
PORT = 26400


class Members:
    """Three members, each of which can be restarted with another release."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {f"m{number}": PORT + 10 * number for number in range(3)}
        self.running: dict[str, Member] = {}

    def start(self, name: str, version: str) -> None:
        """Start or restart a member."""
        if name in self.running:
            self.running[name].stop()
        self.running[name] = Member(version, self.folder, self.ports[name], (), {}, (), name, self.ports)
        self.running[name].start()

    def roll(self, version: str, names: tuple[str, ...] = ("m0", "m1", "m2")) -> None:
        """Restart members with a release, one after the other."""
        for name in names:
            self.start(name, version)
            self.running[name].wait_ready()

    def steps(self, etcdctl: str = NEW) -> Steps:
        return Steps(connection(etcdctl), [member.endpoint for member in self.running.values()], EVENT_SECONDS)

    def settle(self, version: str) -> None:
        self.steps().wait(lambda found: release_change.settled_problem(found, version))

    def v2_entries(self) -> list[int]:
        return [count_v2_entries(self.folder / name, None) for name in self.ports]

    def stop(self) -> None:
        for member in self.running.values():
            member.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Members]:
    found = Members(tmp_path)
    try:
        yield found
    finally:
        found.stop()


def form(cluster: Members, version: str) -> None:
    for name in cluster.ports:
        cluster.start(name, version)
    for member in cluster.running.values():
        member.wait_ready()


def test_the_members_in_a_database_that_etcd_writes_to(cluster: Members) -> None:
    form(cluster, OLD)
    steps = cluster.steps(OLD)
    path = cluster.folder / "m0" / "member" / "snap" / "db"
    for number in range(20):
        steps._ctl(steps.endpoints, "put", f"key{number}", "value" * 1000)
        assert stored_problems(read_members(path), steps.observe()[0]) == []
    listed = steps.observe()[0]
    [problem] = stored_problems(read_members(path), replace(listed, members=listed.members[1:]))
    assert "which the cluster does not list" in problem


def test_up_to_the_newest_release_and_down_again(cluster: Members) -> None:
    form(cluster, OLD)
    cluster.roll(MIDDLE)
    cluster.settle(MIDDLE)

    assert min(cluster.v2_entries()) > 0, "3.5 wrote them, and 3.7 would replay them"
    steps = cluster.steps(MIDDLE)
    steps.flush()
    assert cluster.v2_entries() == [0, 0, 0]
    assert not steps.is_flushing()
    cluster.settle(MIDDLE)
    cluster.roll(NEW)
    cluster.settle(NEW)

    for higher, lower in ((NEW, MIDDLE), (MIDDLE, OLD)):
        steps = cluster.steps(higher)
        assert steps.enable(lower, check=True)
        assert not any(member.downgrade_to for member in steps.observe()[1]), "check mode enables nothing"
        assert steps.enable(lower)
        assert not steps.enable(lower), "an interrupted run finds it enabled"
        cluster.roll(lower, ("m0",))
        assert not cluster.steps(higher).enable(lower), "a member runs the lower release already"
        cluster.roll(lower, ("m1", "m2"))
        cluster.settle(lower)


def test_a_downgrade_is_cancelled_in_the_middle(cluster: Members) -> None:
    """To 3.5, which does not tell that a downgrade is enabled, and does not answer a request to cancel it."""
    higher, lower = MIDDLE, OLD
    form(cluster, higher)
    cluster.settle(higher)
    steps = cluster.steps(higher)
    assert not steps.cancel(), "none is enabled"
    steps.enable(lower)
    cluster.roll(lower, ("m0", "m1"))
    found = release_change.find_blockers(*steps.observe(), release_change.Request(higher, {}))
    assert any("go back with -e etcd_downgrade_cancel=true" in blocker.text for blocker in found)
    assert steps.cancel(check=True)
    assert steps.cancel()
    assert not steps.cancel()
    cluster.roll(higher, ("m0", "m1"))
    cluster.settle(higher)


def begin_downgrade(cluster: Members) -> Steps:
    """Change the first of three members to MIDDLE."""
    form(cluster, NEW)
    cluster.settle(NEW)
    steps = cluster.steps(NEW)
    steps.enable(MIDDLE)
    cluster.roll(MIDDLE, ("m0",))
    return steps


def test_a_downgrade_is_cancelled_although_the_member_that_it_changed_does_not_start(cluster: Members) -> None:
    steps = begin_downgrade(cluster)
    cluster.running["m0"].stop()
    request = release_change.Request(NEW, {"m0": MIDDLE, "m1": NEW, "m2": NEW}, cancel=True)
    found, members = steps.observe()
    assert {member.name for member in found.members if member.downgrade_to} == {"m1", "m2"}, (
        "the plan of members reads it"
    )
    assert release_change.find_blockers(found, members, request) == []
    assert steps.cancel()
    cluster.roll(NEW, ("m0",))
    cluster.settle(NEW)


def test_a_member_that_is_lost_in_the_middle_of_an_upgrade_is_replaced(cluster: Members) -> None:
    form(cluster, MIDDLE)
    cluster.settle(MIDDLE)
    cluster.steps(MIDDLE).flush()
    cluster.roll(NEW, ("m0",))
    lost = cluster.running.pop("m2")
    lost.stop()
    steps, alive = cluster.steps(NEW), list(cluster.running.values())
    wait_for_leader(alive)
    request = release_change.Request(NEW, {"m0": NEW, "m1": MIDDLE})
    [blocker] = release_change.find_blockers(*steps.observe(), request)
    assert "m2 is not healthy" in blocker.text
    assert not release_change.find_blockers(*steps.observe(), replace(request, members_planned=True))
    compared = compare_members(steps.link, steps.endpoints, EVENT_SECONDS)
    assert (compared.verdict, len(compared.hashes)) == (hashes.AGREE, 2), "of both releases"
    etcdctl(alive, "member", "remove", next(one.id for one in steps.observe()[0].members if one.name == "m2"))
    shutil.rmtree(cluster.folder / "m2")
    # etcd adds none within 5 s after an election.
    peer_url = f"http://127.0.0.1:{cluster.ports['m2'] + 1}"
    add = ("member", "add", "m2", "--learner", f"--peer-urls={peer_url}")
    wait_until(lambda: run(alive, *add).returncode == 0, "etcd did not add m2")
    joining = Member(
        NEW, cluster.folder, cluster.ports["m2"], ["--initial-cluster-state=existing"], {}, (), "m2", cluster.ports
    )
    cluster.running["m2"] = joining
    joining.start()
    learner = next(one.id for one in steps.observe()[0].members if one.peer_urls == [peer_url])
    wait_until(lambda: run(alive, "member", "promote", learner).returncode == 0, "etcd did not promote m2")
    cluster.roll(NEW, ("m1",))
    cluster.settle(NEW)


def test_a_downgrade_goes_on_after_it_was_cancelled_in_the_middle(cluster: Members) -> None:
    """etcd refuses to enable it again, and the cluster is at the lower version already."""
    steps = begin_downgrade(cluster)
    steps.cancel()
    assert not steps.enable(MIDDLE)
    cluster.roll(MIDDLE, ("m1", "m2"))
    cluster.settle(MIDDLE)


def test_an_interrupted_flush_is_finished(cluster: Members) -> None:
    form(cluster, MIDDLE)
    cluster.settle(MIDDLE)
    steps = cluster.steps(MIDDLE)
    steps._ctl(steps.endpoints, "put", FLUSH_KEY, "3.5.0")
    steps._enable(OLD)
    assert steps.is_flushing()
    steps.flush()
    assert not steps.is_flushing()
    cluster.settle(MIDDLE)
    steps._ctl(steps.endpoints, "put", FLUSH_KEY, "3.5.0")
    steps.enable(OLD)
    assert not steps.is_flushing(), "the downgrade that an operator asks for is never taken for a flush"
    steps._ctl(steps.endpoints, "put", FLUSH_KEY, "3.5.0")
    assert steps.withdraw(check=True) and steps.is_flushing()
    assert steps.withdraw() and not steps.is_flushing()
    assert not steps.withdraw()


def test_etcd_refuses_a_downgrade_by_two_minor_versions(cluster: Members) -> None:
    form(cluster, NEW)
    cluster.settle(NEW)
    with pytest.raises(ReleaseError, match=r"downgrade validate 3\.5: .*invalid downgrade target version"):
        cluster.steps(NEW).enable(OLD)
