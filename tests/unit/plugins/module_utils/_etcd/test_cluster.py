# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster put together from captured answers, and who may be stopped."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import cluster as etcd_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import cluster_view, drain, etcdctl

FIXTURES = Path(__file__).parent.parent / "fixtures"
VERSIONS = ("3.5", "3.6", "3.7")


def captured(version: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((FIXTURES / f"etcdctl-{version}.json").read_text())
    return data


def cluster(version: str, status: str = "status", health: str = "health", refused: str = "") -> etcd_cluster.Cluster:
    data = captured(version)
    listed = etcdctl.parse_members(data["members"]["stdout"])
    return etcd_cluster.assemble_cluster(
        listed,
        {member.id: member.client_urls[0] for member in listed.members},
        etcdctl.parse_status(data[status]["stdout"]),
        etcdctl.parse_health(data[health]["stdout"]),
        {listed.members[2].client_urls[0]: refused},
    )


def member(name: str, role: str = "follower", **more: Any) -> etcd_cluster.Member:
    base = etcd_cluster.Member(
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


def of(*members: etcd_cluster.Member, alarms: tuple[tuple[str, str], ...] = ()) -> etcd_cluster.Cluster:
    voters = [item for item in members if item.votes]
    healthy = sum(item.healthy for item in voters)
    return etcd_cluster.Cluster(
        id="1",
        leader=next((item.name for item in members if item.role == "leader"), ""),
        members=list(members),
        quorum=etcd_cluster.Quorum(len(voters), len(voters) // 2 + 1, healthy, healthy > 0),
        alarms=[{"member": who, "type": what} for who, what in alarms],
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_healthy_cluster(version: str) -> None:
    found = cluster(version)
    assert found.quorum == etcd_cluster.Quorum(voters=3, needed=2, healthy=3, ok=True)
    assert sorted(item.role for item in found.members) == ["follower", "follower", "leader"]
    assert [item.name for item in found.members if item.role == "leader"] == [found.leader]
    assert all(item.version and item.version.startswith(version) and item.lag == 0 for item in found.members)
    assert (found.alarms, found.error) == ([], "")


@pytest.mark.parametrize("version", VERSIONS)
def test_one_member_down(version: str) -> None:
    found = cluster(version, "status, one down", "health, one down", "connection refused")
    assert found.quorum == etcd_cluster.Quorum(voters=3, needed=2, healthy=2, ok=True)
    down = found.members[2]
    assert (down.healthy, down.health_error, down.role, down.db_size) == (False, "connection refused", "unknown", None)


@pytest.mark.parametrize("version", VERSIONS)
def test_no_quorum(version: str) -> None:
    found = cluster(version, "status without quorum", "health without quorum", "connection refused")
    assert found.quorum == etcd_cluster.Quorum(voters=3, needed=2, healthy=0, ok=False)
    assert found.leader == ""
    assert [item.health_error for item in found.members] == [
        "it knows no leader",
        "no answer in time",
        "connection refused",
    ]


def test_alarms_name_the_member() -> None:
    status = etcdctl.parse_status(captured("3.6")["status with an alarm"]["stdout"])
    listed = etcdctl.parse_members(captured("3.6")["members"]["stdout"])
    only = replace(listed, members=[item for item in listed.members if item.name == "m1"])
    found = etcd_cluster.assemble_cluster(only, {only.members[0].id: next(iter(status))}, status, {}, {})
    assert found.alarms == [{"member": "m1", "type": "NOSPACE"}]
    assert found.members[0].alarms == ["NOSPACE"]


def test_learners_do_not_count() -> None:
    listed = etcdctl.parse_members(captured("3.7")["members with a learner"]["stdout"])
    found = etcd_cluster.assemble_cluster(listed, dict.fromkeys((item.id for item in listed.members), ""), {}, {}, {})
    assert found.quorum.voters == 3
    learner = next(item for item in found.members if item.role == "learner")
    assert (learner.votes, learner.health_error) == (False, "it was added but never started")


@pytest.mark.parametrize(("leader", "healthy", "error"), [("a", True, ""), ("", False, "it knows no leader")])
def test_a_learner_is_healthy_if_it_knows_a_leader(leader: str, healthy: bool, error: str) -> None:
    listed = etcdctl.MemberList("1", "b", [etcdctl.ListedMember("b", "l", [], ["https://l"], True)])
    status = etcdctl.Status("b", "3.7.3", leader, True, 1, 1, None, 5, 5, 2)
    (found,) = etcd_cluster.assemble_cluster(listed, {"b": "https://l"}, {"https://l": status}, {}, {}).members
    assert (found.role, found.healthy, found.health_error) == ("learner", healthy, error)


@pytest.mark.parametrize(
    ("urls", "endpoints", "chosen"),
    [
        ([], ["https://a"], ""),
        (["https://b", "https://a"], ["https://a"], "https://a"),
        (["https://b", "https://c"], ["https://a"], "https://b"),
    ],
)
def test_choose_url(urls: list[str], endpoints: list[str], chosen: str) -> None:
    assert etcd_cluster.choose_url(urls, endpoints) == chosen


DOWN = {"healthy": False, "health_error": "connection refused"}


@pytest.mark.parametrize(
    ("given", "name", "allowed", "move_to", "interrupts"),
    [
        (of(member("a", "leader"), member("b"), member("c")), "b", True, "", False),
        (of(member("a", "leader"), member("b"), member("c")), "a", True, "b", False),
        (of(member("a", "leader"), member("b", lag=9), member("c", lag=1)), "a", True, "c", False),
        (of(member("a", "leader"), member("b", lag=900), member("z")), "a", True, "z", False),
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
def test_drain_verdict(given: etcd_cluster.Cluster, name: str, allowed: bool, move_to: str, interrupts: bool) -> None:
    verdict = drain.drain_verdict(given, name, [], 500)
    assert (verdict.allowed, verdict.move_to, verdict.interrupts) == (allowed, move_to, interrupts)
    assert bool(verdict.reason) is not allowed


def test_those_already_changed_lead_rather() -> None:
    given = of(member("a", "leader"), member("b"), member("c", lag=3))
    assert drain.drain_verdict(given, "a", ["c"], 500).move_to == "c"


@pytest.mark.parametrize(
    ("given", "name", "text", "transient"),
    [
        (
            of(member("a", "leader"), member("b"), member("c", **DOWN)),
            "a",
            "stopping a would break quorum: not healthy: c (connection refused); 1 of the 2 other voting members are "
            "healthy and quorum needs 2 of 3; repair the unhealthy members first",
            True,
        ),
        (
            of(member("a", "leader"), *(member(name) for name in "bcd"), member("e", **DOWN)),
            "a",
            "stopping a would leave no spare member: not healthy: e (connection refused); 3 of the 4 other voting "
            "members are healthy and quorum needs 3 of 5; repair the unhealthy members first",
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
            etcd_cluster.unreachable_cluster("https://a:2379: connection refused"),
            "a",
            "no member of the cluster answers (https://a:2379: connection refused); start etcd, or set endpoints",
            True,
        ),
    ],
)
def test_why_it_may_not_be_stopped(given: etcd_cluster.Cluster, name: str, text: str, transient: bool) -> None:
    verdict = drain.drain_verdict(given, name, [], 500)
    assert (verdict.allowed, verdict.reason, verdict.transient) == (False, text, transient)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (of(member("a", "leader"), member("b")), ""),
        (of(member("a"), member("b", "leader")), ""),
        (etcd_cluster.unreachable_cluster("down"), "no member of the cluster answers (down)"),
        (of(member("b")), "the cluster has no member named 'a' (yet); its members are b"),
        (of(member("a", **DOWN), member("b")), "a is not healthy: connection refused; 1 of 2 voting members are"),
        (of(member("a"), member("b")), "the cluster has no leader"),
        (of(member("a", lag=501), member("b", "leader")), "a is 501 raft entries behind, more than 500"),
    ],
)
def test_serving_problem(given: etcd_cluster.Cluster, text: str) -> None:
    assert drain.serving_problem(given, "a", 500) == text


# An etcdctl that answers what was captured, and only at the ports that the test listens on.
ETCDCTL = """#!{python}
import json, os, sys
answers = json.load(open({answers!r}))
words = sys.argv[1:]
endpoints = words[0].partition("=")[2].split(",")
what = {{"member": "members --consistency=s", "status": "status", "health": "health"}}[
    next(word for word in words if word in ("member", "status", "health"))
]
if what.startswith("members") and "--consistency=s" not in words:
    what = "members"
answer = answers[what]
text = answer["stdout"]
if what in ("status", "health"):
    key = "Endpoint" if what == "status" else "endpoint"
    text = json.dumps([entry for entry in json.loads(text) if entry[key] in endpoints])
print(text)
print(answer["stderr"], file=sys.stderr)
sys.exit(answer["returncode"])
"""


@contextlib.contextmanager
def listening(count: int) -> Iterator[list[int]]:
    with contextlib.ExitStack() as stack:
        ports = []
        for _number in range(count):
            server = stack.enter_context(contextlib.closing(socket.create_server(("127.0.0.1", 0), backlog=16)))
            ports.append(server.getsockname()[1])
        yield ports


@pytest.mark.parametrize("version", VERSIONS)
def test_observe(tmp_path: Path, version: str) -> None:
    """Members m1 and m2 listen, m3 does not; etcdctl 3.5 falls back where it lacks a flag."""
    text = json.dumps(captured(version)).replace("https://", "http://")
    prefix = {"3.5": 325, "3.6": 326, "3.7": 327}[version]
    with listening(3) as ports:
        for number, port in enumerate(ports, 1):
            text = text.replace(f"127.0.0.1:{prefix}{number}0", f"127.0.0.1:{port}")
        answers = tmp_path / "answers.json"
        answers.write_text(text)
        path = tmp_path / "etcdctl"
        path.write_text(ETCDCTL.format(python=sys.executable, answers=str(answers)))
        path.chmod(0o755)
        link = etcdctl.Connection(str(path), None, None, None, 2.0)
        found, answered_by = cluster_view.observe_cluster(link, [f"http://127.0.0.1:{ports[0]}"])
        assert (len(found.members), found.quorum.healthy, answered_by) == (3, 3, "m1")
        nobody, _name = cluster_view.observe_cluster(link, ["http://127.0.0.1:1"])
    assert (nobody.members, nobody.error) == ([], "http://127.0.0.1:1: connection refused")
    gone, _name = cluster_view.observe_cluster(link, [f"http://127.0.0.1:{port}" for port in ports])
    assert gone.error.count("connection refused") == 3
