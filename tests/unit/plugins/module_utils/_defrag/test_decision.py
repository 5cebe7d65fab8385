# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a member should be defragmented, and whether it may be now."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import decision
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import HostCapacity, Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics

USUAL = Thresholds(45, 100 * MIB)
IDLE = MemberMetrics(0, 0, False, 1000, 2048 * MIB)


def member(name: str, role: str = "follower", **more: Any) -> Member:
    base = Member(
        name=name,
        id=name,
        role=role,
        healthy=True,
        health_error="",
        endpoint=f"https://{name}:2379",
        peer_urls=[],
        client_urls=[],
        version="3.6.16",
        db_size=1000 * MIB,
        db_size_in_use=300 * MIB,
        lag=0,
    )
    return replace(base, **more)


def cluster(*members: Member, alarms: tuple[tuple[str, str], ...] = ()) -> Cluster:
    voters = [item for item in members if item.votes]
    healthy = sum(item.healthy for item in voters)
    leader = next((item.name for item in members if item.role == "leader"), "")
    found = [{"member": who, "type": what} for who, what in alarms]
    return Cluster("1", leader, list(members), Quorum(len(voters), len(voters) // 2 + 1, healthy, healthy > 0), found)


def three(**more: Any) -> Cluster:
    return cluster(member("a", "leader"), member("b"), member("c", **more))


@pytest.mark.parametrize(
    ("size", "used", "thresholds", "expected"),
    [
        (1000 * MIB, 300 * MIB, USUAL, True),
        (1000 * MIB, 550 * MIB, USUAL, True),
        (1000 * MIB, 551 * MIB, USUAL, False),  # the share is missing
        (200 * MIB, 100 * MIB, USUAL, True),
        (200 * MIB, 101 * MIB, USUAL, False),  # the bytes are missing
        (1000 * MIB, 1000 * MIB, Thresholds(0, 0), False),  # nothing is free
        (1000 * MIB, 999 * MIB, Thresholds(0, 0), True),
        (0, 0, Thresholds(0, 0), False),
    ],
)
def test_is_worthwhile_when_share_and_size_are_free(
    size: int, used: int, thresholds: Thresholds, expected: bool
) -> None:
    assert decision.is_worthwhile(member("a", db_size=size, db_size_in_use=used), thresholds) is expected


@pytest.mark.parametrize(
    ("thresholds", "text"),
    [
        (Thresholds(-1, 0), "free_share is -1"),
        (Thresholds(100, 0), "free_share is 100, but must be 0 to 99 percent"),
        (Thresholds(45, -1), "free_size is -1"),
    ],
)
def test_thresholds_out_of_range(thresholds: Thresholds, text: str) -> None:
    with pytest.raises(decision.DefragError, match=text):
        decision.validate_thresholds(thresholds)


def test_defrag_order_is_followers_by_name_then_the_leader() -> None:
    full = {"db_size_in_use": 999 * MIB}
    members = (member("a", "leader"), member("d"), member("b"), member("l", "learner"), member("c", **full))
    assert [one.name for one in decision.defrag_order(cluster(*members), USUAL)] == ["b", "d", "a"]


@pytest.mark.parametrize(
    ("found", "name", "reason", "state"),
    [
        (three(), "x", "no member named 'x'; its members are a, b, c", ""),
        (three(role="learner"), "c", "a learner, which is not defragmented until it votes", "settled"),
        (three(db_size=None, health_error="it is down"), "c", "^c returned no status: it is down$", "transient"),
        (
            three(db_size=None, status_error="no answer in time"),
            "c",
            "^c returned no status: no answer in time$",
            "transient",
        ),
        (
            three(db_size_in_use=900 * MIB),
            "c",
            r"^c does not need defragmentation: 100.0 MiB of 1000.0 MiB \(10 %\) are free; the thresholds are 45 % and 100.0 MiB$",
            "settled",
        ),
        (cluster(), "c", "no member of the cluster answers", "transient"),
    ],
)
def test_skip_verdict(found: Cluster, name: str, reason: str, state: str) -> None:
    verdict = decision.skip_verdict(found, name, USUAL)
    assert verdict is not None
    assert (verdict.go, verdict.settled, verdict.transient) == (False, state == "settled", state == "transient")
    assert re.search(reason, verdict.reason)


ALL_IDLE = {"a": IDLE, "b": IDLE, "c": IDLE}


@pytest.mark.parametrize(
    ("found", "metrics", "reason", "transient"),
    [
        (three(healthy=False, health_error="it is down"), ALL_IDLE, "c (it is down); repair that first", True),
        (cluster(*three().members, alarms=(("b", "CORRUPT"),)), ALL_IDLE, "the alarm CORRUPT is set for b", False),
        (three(lag=501), ALL_IDLE, "members lag behind: c by 501 entries; at most 500 are allowed", True),
        (
            three(),
            {**ALL_IDLE, "c": "refused"},
            "the metrics of c do not say whether it sends a snapshot: refused",
            True,
        ),
        (
            three(),
            {"a": IDLE, "b": IDLE},
            "the metrics of c do not say whether it sends a snapshot: they were not read",
            True,
        ),
        (three(), {**ALL_IDLE, "a": replace(IDLE, raft_snapshots=1)}, "a sends or receives a snapshot", True),
        (three(), {**ALL_IDLE, "b": replace(IDLE, snapshot_downloads=1)}, "b sends a snapshot to a client", True),
        (three(), {**ALL_IDLE, "c": replace(IDLE, defragmenting=True)}, "c is being defragmented", True),
    ],
)
def test_cluster_verdict_forbids(
    found: Cluster, metrics: dict[str, MemberMetrics | str], reason: str, transient: bool
) -> None:
    verdict = decision.cluster_verdict(found, "b", metrics, 500, [])
    assert (verdict.go, verdict.transient) == (False, transient)
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("found", "name", "prefer", "move_to"),
    [
        (three(), "b", [], ""),
        (three(), "a", [], "b"),
        (three(), "a", ["c"], "c"),
        (cluster(*three().members, alarms=(("b", "NOSPACE"),)), "b", [], ""),
        (cluster(*three().members, member("l", "learner", healthy=False)), "b", [], ""),
        (cluster(member("a", "leader")), "a", [], ""),
    ],
)
def test_cluster_verdict_allows(found: Cluster, name: str, prefer: list[str], move_to: str) -> None:
    verdict = decision.cluster_verdict(found, name, ALL_IDLE, 500, prefer)
    assert (verdict.go, verdict.move_to) == (True, move_to)


@pytest.mark.parametrize(
    ("free", "problem"),
    [
        (None, ""),
        (455 * MIB, ""),
        (454 * MIB, "the filesystem of /data has 454.0 MiB free, but the copy and the growing WAL need"),
    ],
)
def test_disk_problem(free: int | None, problem: str) -> None:
    found = decision.disk_problem(member("a"), HostCapacity("/data", free=free))
    assert found.startswith(problem) and bool(found) == bool(problem)


@pytest.mark.parametrize(
    ("revision", "used", "chunk"),
    [(1000, 300 * MIB, 10_000 * 1000), (100_000, 300 * MIB, 300 * MIB), (None, 10 * MIB, 10 * MIB)],
)
def test_copy_bytes(revision: int | None, used: int, chunk: int) -> None:
    found = decision.copy_bytes(member("a", db_size_in_use=used), replace(IDLE, bytes_per_revision=revision))
    assert found == (chunk * 2, chunk * 3200 // 1000)


@pytest.mark.parametrize(
    ("rss_anon", "goal", "go_limit", "expected"),
    [
        (None, 400, None, None),
        (100, None, None, 100 + 320),
        (100, 400, None, 400 + 320),  # the heap may grow to its goal before Go collects
        (500, 400, None, 500 + 320),
        (100, 400, 600, 600),  # garbage goes at the limit, what is in use stays: (200 + 200) x 1.1 = 440
        (100, 400, 300, 660),  # all of a heap that lies at the limit may be in use: (400 + 200) x 1.1
        (100, 400, 2000, 720),
        (900, 400, 600, 900),
    ],
)
def test_peak_rss_anon(rss_anon: int | None, goal: int | None, go_limit: int | None, expected: int | None) -> None:
    local = HostCapacity("/data", rss_anon=rss_anon and rss_anon * MIB, go_limit=go_limit and go_limit * MIB)
    metrics = replace(IDLE, bytes_per_revision=100_000, heap_goal=goal and goal * MIB)
    found = decision.peak_rss_anon(member("a", db_size_in_use=100 * MIB), metrics, local)
    assert found == (expected and expected * MIB)


@pytest.mark.parametrize(
    ("local", "may_raise", "problem"),
    [
        (HostCapacity("/data"), False, ""),
        (HostCapacity("/data", rss_anon=100 * MIB, limit=None), False, ""),
        (HostCapacity("/data", rss_anon=100 * MIB, limit=2048 * MIB), False, ""),
        (
            HostCapacity("/data", rss_anon=100 * MIB, limit=512 * MIB),
            False,
            "limit of 512.0 MiB: raise etcd_memory_budget",
        ),
        (
            HostCapacity("/data", rss_anon=100 * MIB, limit=512 * MIB, available=900 * MIB),
            True,
            "the host has only 900.0 MiB left",
        ),
        (HostCapacity("/data", rss_anon=100 * MIB, limit=512 * MIB, available=2048 * MIB), True, ""),
        # Needed: 100 + 960 for the copies + 32 to spare. Above MemoryHigh, the kernel would throttle etcd.
        (HostCapacity("/data", rss_anon=100 * MIB, limit=1092 * MIB, high=1092 * MIB), False, ""),
        (
            HostCapacity("/data", rss_anon=100 * MIB, limit=1200 * MIB, high=1000 * MIB),
            False,
            "limit of 1000.0 MiB: raise",
        ),
        (HostCapacity("/data", rss_anon=100 * MIB, high=1000 * MIB), False, "limit of 1000.0 MiB: raise etcd_memory"),
        (
            HostCapacity("/data", rss_anon=100 * MIB, limit=1200 * MIB, high=1000 * MIB, available=2048 * MIB),
            True,
            "",
        ),
        (
            HostCapacity("/data", rss_anon=100 * MIB, limit=512 * MIB, parent_limit=1091 * MIB, available=2048 * MIB),
            True,
            "limit of 512.0 MiB, and a control group above its unit has 1.1 GiB: raise the limits of its slice",
        ),
        (
            HostCapacity("/data", rss_anon=100 * MIB, limit=512 * MIB, parent_limit=1092 * MIB, available=2048 * MIB),
            True,
            "",
        ),
    ],
)
def test_memory_problem(local: HostCapacity, may_raise: bool, problem: str) -> None:
    metrics = replace(IDLE, bytes_per_revision=100_000)
    found = decision.memory_problem(member("a"), metrics, local, may_raise)
    assert problem in found and bool(found) == bool(problem)


def test_limit_is_raised_although_only_the_one_that_throttles_is_too_low() -> None:
    metrics = replace(IDLE, bytes_per_revision=100_000)
    local = HostCapacity("/data", rss_anon=100 * MIB, limit=1200 * MIB, high=1091 * MIB)
    assert decision.required_memory_limit(member("a"), metrics, local) == 1092 * MIB
    assert decision.required_memory_limit(member("a"), metrics, replace(local, high=1092 * MIB)) is None
