# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster assembled from captured answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import cluster as etcd_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import etcdctl

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


def health_with(*alarms: str) -> str:
    """Return what ``etcdctl endpoint health -w json`` prints while alarms are set."""
    urls = [member.client_urls[0] for member in etcdctl.parse_members(captured("3.6")["members"]["stdout"]).members]
    error = f"Active Alarm(s): {' '.join(alarms)} "
    return json.dumps([{"endpoint": url, "health": False, "took": "3ms", "error": error} for url in urls])


def test_alarms_are_reported_if_the_status_is_denied() -> None:
    listed = etcdctl.parse_members(captured("3.6")["members"]["stdout"])
    targets = {member.id: member.client_urls[0] for member in listed.members}
    healths = etcdctl.parse_health(health_with("NOSPACE", "CORRUPT"))
    denied = dict.fromkeys(targets.values(), "etcdserver: permission denied")
    found = etcd_cluster.assemble_cluster(listed, targets, {}, healths, denied)
    assert found.alarms == [{"member": "an unknown member", "type": kind} for kind in ("CORRUPT", "NOSPACE")]
    assert [(one.healthy, one.health_error, one.status_error, one.alarms) for one in found.members] == [
        (True, "", "etcdserver: permission denied", [])
    ] * 3
    assert "CORRUPT is set for an unknown member" in found.corruption


def test_a_status_attributes_the_alarms_of_members_that_returned_none() -> None:
    listed = etcdctl.parse_members(captured("3.6")["members"]["stdout"])
    targets = {member.id: member.client_urls[0] for member in listed.members}
    first, *_others = etcdctl.parse_status(captured("3.6")["status"]["stdout"]).items()
    url, status = first
    alarmed = {url: replace(status, errors=[f"memberID:{int(status.member_id, 16)} alarm:NOSPACE"])}
    healths = etcdctl.parse_health(health_with("NOSPACE"))
    found = etcd_cluster.assemble_cluster(listed, targets, alarmed, healths, {})
    assert [alarm["type"] for alarm in found.alarms] == ["NOSPACE"] and found.alarms[0]["member"] in {"m0", "m1", "m2"}
    # An alarm that was disarmed between the two requests: all statuses are newer than the health, or as old.
    statuses = etcdctl.parse_status(captured("3.6")["status"]["stdout"])
    assert etcd_cluster.assemble_cluster(listed, targets, statuses, healths, {}).alarms == []


def test_learners_do_not_count() -> None:
    listed = etcdctl.parse_members(captured("3.7")["members with a learner"]["stdout"])
    found = etcd_cluster.assemble_cluster(listed, dict.fromkeys((item.id for item in listed.members), ""), {}, {}, {})
    assert found.quorum.voters == 3
    learner = next(item for item in found.members if item.role == "learner")
    assert (learner.votes, learner.health_error) == (False, "it was added but never started")


def test_the_answer_of_another_member_does_not_count() -> None:
    """Such as behind a load balancer, or at the address of a dead host that another member took over."""
    listed = etcdctl.MemberList(
        "1", "b", [etcdctl.ListedMember(name, name, [], ["https://b"], False) for name in ("b", "c")]
    )
    status = etcdctl.Status("b", "3.7.3", "b", False, 1, 1, None, 5, 5, 2)
    healths = {"https://b": etcdctl.Health(True, "")}
    urls = dict.fromkeys(("b", "c"), "https://b")
    found = etcd_cluster.assemble_cluster(listed, urls, {"https://b": status}, healths, {})
    assert [member.healthy for member in found.members] == [True, False]
    assert found.members[1].health_error == "another member (b) answers at https://b: correct its advertise-client-urls"
    assert (found.members[1].db_size, found.quorum.healthy) == (None, 1)


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


@pytest.mark.parametrize(("member", "said"), [("m2", "set for m2;"), ("0", "set for the cluster;")])
def test_corruption_names_the_member_or_the_cluster(member: str, said: str) -> None:
    """etcd sets the alarm for member 0 if it does not know which member differs."""
    found = replace(cluster("3.6"), alarms=[{"member": member, "type": "CORRUPT"}, {"member": "m1", "type": "NOSPACE"}])
    assert (
        found.with_alarm("NOSPACE") == ["m1"] and said in found.corruption and "headroom integrity" in found.corruption
    )
    assert cluster("3.6").corruption == ""
