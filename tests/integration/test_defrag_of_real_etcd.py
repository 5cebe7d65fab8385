# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defragmentation and the cluster's lock on real etcd of each series: order, refusals, a killed holder, NOSPACE."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import rolling
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.limit import is_defragmenting
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import Outcome, Request
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member as Described
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection

from bench.common.member import Member, releases, running
from tests.integration.client import EVENT_SECONDS, command_line, connection, etcdctl, wait_until

PORT = 25650
QUOTA = 96 * MIB
VALUE = "v" * 1_000_000
PAYS = Thresholds(45, 10 * MIB)

# Long enough to be renewed on a busy machine, where etcdctl takes seconds.
LEASE_SECONDS = 10

# Takes the lock with a short lease, says so, and waits to be killed.
HOLDER = """
import sys, time
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from tests.integration.client import connection
with lock.hold_lock(connection(sys.argv[1]), [sys.argv[2]], lock.Holder("other-host", "m9", "backup"), ttl=int(sys.argv[3])):
    print("held", flush=True)
    time.sleep(120)
"""


@pytest.fixture(scope="module", params=releases())
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Member]]:
    """Three members of one release with a small quota."""
    version: str = request.param
    folder = tmp_path_factory.mktemp(f"etcd-{version}")
    ports = {f"m{number}": PORT + 10 * number for number in range(3)}
    flags = (f"--quota-backend-bytes={QUOTA}",)
    members = [Member(version, folder, port, flags, {}, (), name, ports) for name, port in ports.items()]
    with running(members):
        yield members


def link_to(members: list[Member]) -> Connection:
    return connection(members[0].version)


def compact(member: Member) -> None:
    revision = json.loads(etcdctl(member, "get", "key", "-w", "json"))["header"]["revision"]
    etcdctl(member, "compact", str(revision), "--physical")


def wait_for_free_pages(members: list[Member], *write: str) -> None:
    """Each member compacts for itself, and counts the pages that it freed with the second write after that."""
    deadline = time.monotonic() + EVENT_SECONDS
    for number in itertools.count():
        if all((member.db_size_in_use or 0) < 20 * MIB for member in sizes(members)):
            return
        assert time.monotonic() < deadline, sizes(members)
        etcdctl(members[0], *(word.format(number) for word in write))
        time.sleep(0.3)


def sizes(members: list[Member]) -> list[Described]:
    return observe_cluster(link_to(members), [member.endpoint for member in members])[0].members


def fragment(members: list[Member]) -> None:
    """Leave some 40 MB of free pages in each member's database."""
    for _number in range(45):
        etcdctl(members[0], "put", "key", text=VALUE)
    compact(members[0])
    wait_for_free_pages(members, "put", "other", "value")


def asked(members: list[Member], member: Member, **more: Any) -> Request:
    others = [other.endpoint for other in members if other is not member]
    base = Request(
        [member.endpoint, *others],
        member.name,
        False,
        PAYS,
        pause=0,
        wait=60,
        data_dir=str(member.folder / member.name),
    )
    return replace(base, **more)


def on_all_hosts(members: list[Member], thresholds: Thresholds = PAYS) -> list[Outcome]:
    """What the timers of three hosts do when they elapse together."""
    link = link_to(members)

    def host(member: Member) -> Outcome:
        (outcome,) = rolling.run_defrag(asked(members, member, thresholds=thresholds), link)
        return outcome

    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(host, members))


def leader(members: list[Member]) -> str:
    return observe_cluster(link_to(members), [member.endpoint for member in members])[0].leader


def test_timers_that_elapse_together_defragment_one_member_at_a_time(
    cluster: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    fragment(cluster)
    led = leader(cluster)
    spans: list[tuple[float, float, str]] = []
    real = rolling.defragment_member

    def watched(request: Request, link: Connection, name: str, guard: lock.LeaseKeeper | None) -> Outcome:
        began = time.monotonic()
        outcome = real(request, link, name, guard)
        spans.append((began, time.monotonic(), name))
        return outcome

    monkeypatch.setattr(rolling, "defragment_member", watched)
    outcomes = on_all_hosts(cluster)
    assert [outcome.result for outcome in outcomes] == ["done"] * 3, outcomes
    assert all(outcome.after["size"] < outcome.before["size"] // 2 for outcome in outcomes)
    spans.sort()
    assert spans[-1][2] == led
    assert all(earlier[1] <= later[0] for earlier, later in zip(spans, spans[1:], strict=False)), spans
    assert [bool(outcome.moved_to) for outcome in outcomes] == [member.name == led for member in cluster]
    assert leader(cluster) != led
    assert lock.read_lock(link_to(cluster), [cluster[0].endpoint]) is None
    again = on_all_hosts(cluster)
    assert [(outcome.result, outcome.settled) for outcome in again] == [("skipped", True)] * 3
    assert "does not need defragmentation" in again[0].reason


def test_check_mode_and_a_member_that_is_down(cluster: list[Member]) -> None:
    fragment(cluster)
    link = link_to(cluster)
    everyone = asked(cluster, cluster[0], all_members=True)
    predicted = rolling.run_defrag(everyone, link, check=True)
    assert [(outcome.result, outcome.would) for outcome in predicted] == [("skipped", True)] * 3
    assert sum("after" in outcome.reason for outcome in predicted) == 2
    down = cluster[2]
    down.stop()
    try:
        request = asked(cluster, cluster[0], in_turn=False, wait=0)
        (outcome,) = rolling.run_defrag(request, link)
        assert (outcome.result, outcome.settled) == ("skipped", False)
        assert "not every voting member is healthy: m2" in outcome.reason
        assert outcome.before == outcome.after
    finally:
        down.start()
        down.wait_ready()


def test_a_defragmentation_waits_for_the_lock(cluster: list[Member]) -> None:
    link, endpoints = link_to(cluster), [member.endpoint for member in cluster]
    command = [sys.executable, "-c", HOLDER, cluster[1].version, cluster[1].endpoint, str(LEASE_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout and holder.stdout.readline() == "held\n"
        name = next(member for member in cluster if member.name != leader(cluster))
        (outcome,) = rolling.run_defrag(asked(cluster, name, wait=0), link)
        assert outcome.result == "skipped"
        assert "other-host holds the cluster's lock since" in outcome.reason
        time.sleep(LEASE_SECONDS + 1)  # it is kept alive
        assert lock.read_lock(link, endpoints) is not None
        holder.send_signal(signal.SIGKILL)
    with lock.hold_lock(link, endpoints, lock.Holder("this-host", "m0", "defragmentation"), wait=60) as guard:
        guard.check()
        found = lock.read_lock(link, endpoints)
        assert found is not None and found.holder.host == "this-host"


def test_a_lost_lease_stops_before_the_next_member(cluster: list[Member], monkeypatch: pytest.MonkeyPatch) -> None:
    link = link_to(cluster)
    if not rolling.run_defrag(asked(cluster, cluster[0], all_members=True), link, check=True)[0].would:
        fragment(cluster)
    real = rolling.defragment_member

    def then_lose(request: Request, link: Connection, name: str, guard: lock.LeaseKeeper | None) -> Outcome:
        outcome = real(request, link, name, guard)
        if guard is not None:
            guard._gone = "its lease expired"
        return outcome

    monkeypatch.setattr(rolling, "defragment_member", then_lose)
    outcomes = rolling.run_defrag(asked(cluster, cluster[0], all_members=True), link)
    assert sorted(outcome.result for outcome in outcomes) == ["done", "skipped", "skipped"]
    assert all("lock was lost" in outcome.reason for outcome in outcomes if outcome.result == "skipped")


def test_all_members_from_one_host(cluster: list[Member]) -> None:
    fragment(cluster)
    led = leader(cluster)
    outcomes = rolling.run_defrag(asked(cluster, cluster[0], all_members=True), link_to(cluster))
    assert [outcome.result for outcome in outcomes] == ["done"] * 3, outcomes
    assert [outcome.member for outcome in outcomes if outcome.moved_to] == [led]


def is_seen_defragmenting(member: Member) -> bool:
    """Begin to defragment the member, and kill the client as soon as the metrics show it. Return whether they did."""
    command = command_line(member, "defrag")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
        while client.poll() is None:
            if is_defragmenting(connection(member.version), member.endpoint):
                client.kill()
                return True
        return False


def test_metrics_say_how_long_a_defragmentation_takes(cluster: list[Member]) -> None:
    """Also once its client is gone: the memory limit stays raised until then."""
    link, member = link_to(cluster), cluster[0]
    assert not is_defragmenting(link, member.endpoint)
    for _number in range(40):
        etcdctl(member, "put", "key", text=VALUE)
    # On a busy machine one can be over before the metrics are asked for.
    assert any(is_seen_defragmenting(member) for _attempt in range(10))
    wait_until(lambda: not is_defragmenting(link, member.endpoint), "the defragmentation did not end")
    assert is_defragmenting(replace(link, timeout=0.5), "http://127.0.0.1:1")  # it may be


def test_defragmentation_clears_nospace(cluster: list[Member]) -> None:
    # A cluster without space refuses all writes but deletions.
    etcdctl(cluster[0], "txn", text="\n" + "".join(f'put spare-{number} ""\n' for number in range(100)) + "\n\n")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        for _number in range(150):
            etcdctl(cluster[0], "put", "key", text=VALUE)
    assert "database space exceeded" in refused.value.stderr
    link, endpoints = link_to(cluster), [member.endpoint for member in cluster]
    with pytest.raises(lock.NoSpaceError):
        lock.acquire_lock(link, endpoints, lock.Holder("this-host", "m0", "backup"), 10)
    compact(cluster[0])
    wait_for_free_pages(cluster, "del", "spare-{}")
    outcomes = on_all_hosts(cluster)
    assert [outcome.result for outcome in outcomes] == ["done"] * 3, outcomes
    assert [outcome.disarmed for outcome in outcomes].count(True) == 1
    etcdctl(cluster[0], "put", "key", "again")
