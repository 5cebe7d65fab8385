# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which member may be stopped, and when a member serves again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import drain
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import (
    Cluster,
    Member,
    Quorum,
    unreachable_cluster,
)


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
        lag=0,
    )
    return replace(base, **more)


def of(*members: Member, alarms: tuple[tuple[str, str], ...] = ()) -> Cluster:
    voters = [item for item in members if item.votes]
    healthy = sum(item.healthy for item in voters)
    return Cluster(
        id="1",
        leader=next((item.name for item in members if item.role == "leader"), ""),
        members=list(members),
        quorum=Quorum(len(voters), len(voters) // 2 + 1, healthy, healthy > 0),
        alarms=[{"member": who, "type": what} for who, what in alarms],
    )


DOWN = {"healthy": False, "health_error": "connection refused"}


@pytest.mark.parametrize(
    ("given", "name", "allowed", "move_to", "interrupts"),
    [
        (of(member("a", "leader"), member("b"), member("c")), "b", True, "", False),
        (of(member("a", "leader"), member("b"), member("c")), "a", True, "b", False),
        (of(member("a", "leader"), member("b", lag=9), member("c", lag=1)), "a", True, "c", False),
        (of(member("a", "leader"), member("b", lag=900), member("z")), "a", True, "z", False),
        (of(member("a", "leader"), member("b", lag=None), member("z", lag=3)), "a", True, "z", False),
        (of(member("a", "leader"), member("b", lag=None), member("z", lag=900)), "a", False, "", False),
        (of(member("a", "leader"), member("b", **DOWN), member("c")), "b", True, "", False),
        (of(member("a", "leader"), member("b", **DOWN), member("c")), "c", False, "", False),
        (of(*(member(name) for name in "abcd"), member("e", **DOWN)), "a", False, "", False),
        (of(member("a", "leader")), "a", True, "", True),
        (of(member("a", **DOWN)), "a", True, "", True),
        (of(member("a", "leader"), member("b")), "b", True, "", True),
        (of(member("a", "leader"), member("b")), "a", True, "b", True),
        (of(member("a", "leader"), member("b"), member("c"), member("l", "learner", **DOWN)), "b", True, "", False),
        (of(member("a", "leader"), member("l", "learner")), "a", True, "", True),
        (of(member("a", "leader"), member("b"), member("c"), alarms=(("b", "NOSPACE"),)), "b", True, "", False),
        (of(member("a", "leader"), member("b"), member("c"), alarms=(("b", "CORRUPT"),)), "c", False, "", False),
    ],
)
def test_drain_verdict(given: Cluster, name: str, allowed: bool, move_to: str, interrupts: bool) -> None:
    verdict = drain.drain_verdict(given, name, [], 500)
    assert (verdict.allowed, verdict.move_to, verdict.interrupts) == (allowed, move_to, interrupts)
    assert bool(verdict.reason) is not allowed


def test_preferred_members_lead_next() -> None:
    given = of(member("a", "leader"), member("b"), member("c", lag=3))
    assert drain.drain_verdict(given, "a", ["c"], 500).move_to == "c"


@pytest.mark.parametrize(
    ("given", "name", "text", "transient"),
    [
        (
            of(member("a", "leader"), member("b"), member("c", **DOWN)),
            "a",
            "stopping a would break quorum: not healthy: c (connection refused); 1 of the 2 other voting members are "
            "healthy and quorum needs 2 of 3; repair or replace the unhealthy members first",
            True,
        ),
        (
            of(member("a", "leader"), *(member(name) for name in "bcd"), member("e", **DOWN)),
            "a",
            "stopping a would leave no spare member: not healthy: e (connection refused); 3 of the 4 other voting "
            "members are healthy and quorum needs 3 of 5; repair or replace the unhealthy members first",
            True,
        ),
        (of(member("a")), "x", "the cluster has no member named 'x'; its members are a", False),
        (
            of(member("a", "leader"), member("b", lag=800), member("c", lag=900)),
            "a",
            "a leads and no other member has caught up to within 500 entries: b is 800 entries behind, "
            "c is 900 entries behind",
            True,
        ),
        (
            unreachable_cluster("https://a:2379: connection refused"),
            "a",
            "no member of the cluster answers (https://a:2379: connection refused); start etcd, or set endpoints",
            True,
        ),
    ],
)
def test_drain_verdict_says_why_not(given: Cluster, name: str, text: str, transient: bool) -> None:
    verdict = drain.drain_verdict(given, name, [], 500)
    assert (verdict.allowed, verdict.reason, verdict.transient) == (False, text, transient)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (of(member("a", "leader"), member("b")), ""),
        (of(member("a"), member("b", "leader")), ""),
        (unreachable_cluster("down"), "no member of the cluster answers (down)"),
        (of(member("b")), "the cluster has no member named 'a' (yet); its members are b"),
        (of(member("a", **DOWN), member("b")), "a is not healthy: connection refused; 1 of 2 voting members are"),
        (of(member("a"), member("b")), "the cluster has no leader"),
        (
            of(member("a", lag=None), member("b", "leader")),
            "a did not report its status, so it is not known whether it has caught up",
        ),
        (of(member("a", lag=501), member("b", "leader")), "a is 501 raft entries behind, more than 500"),
    ],
)
def test_serving_problem(given: Cluster, text: str) -> None:
    assert drain.serving_problem(given, "a", 500) == text
