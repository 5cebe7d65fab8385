# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why members do not answer, by the facts of their hosts, and what repairs it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import repair

FINE = {"expired": False, "not_yet_valid": False}
EXPIRED = {"expired": True, "not_yet_valid": False}
EARLY = {"expired": False, "not_yet_valid": True}


def certificates(**changed: Any) -> dict[str, Any]:
    """Return the facts of a host whose certificates are valid, but for what is given: ca, peer_ca or server."""
    found = {"ca": FINE, "peer_ca": {}, "server": FINE, **changed}
    own = {"server": found.pop("server"), "peer": FINE}
    return {"certificates": {**found, "certificates": own}}


@pytest.mark.parametrize(
    ("facts", "expired"),
    [
        ({}, False),
        ({"certificates": None}, False),
        (certificates(), False),
        (certificates(peer_ca=FINE), False),
        (certificates(ca=EXPIRED), True),
        (certificates(peer_ca=EXPIRED), True),
        (certificates(server=EXPIRED), True),
        (certificates(ca=EARLY), True),
        (certificates(server=EARLY), True),
        # Certificates that could not be read.
        (certificates(ca={}, server={}), False),
    ],
)
def test_hosts_whose_certificates_have_expired(facts: dict[str, Any], expired: bool) -> None:
    assert repair.expired_hosts({"n1": certificates(), "n2": facts}) == (["n2"] if expired else [])


SEGMENT = 64_000_000
REMEDY = "is full: remove what is not etcd's, or enlarge the device and grow its filesystem (resize2fs, xfs_growfs), then start etcd."


def host(state: str = "active", **available: int) -> dict[str, Any]:
    """Return the facts of a host: the state of its unit, and the free space of its volumes."""
    mounts = {
        f"/{name}": {"exists": True, "covered_by": f"/{name}", "available": size} for name, size in available.items()
    }
    return {"unit": {"active_state": state}, "mounts": mounts}


def test_full_volumes() -> None:
    """A directory that does not exist is not on the volume yet. Two directories on one volume are one problem."""
    shared = {"exists": True, "covered_by": "/data", "available": SEGMENT - 1}
    missing = {"exists": False, "covered_by": "/", "available": 0}
    one = {"mounts": {"/data/etcd": shared, "/data/wal": shared, "/srv": missing}}
    assert repair.full_volumes({"n1": one, "n2": host(data=SEGMENT), "n3": host(data=0, wal=0)}) == [
        f"/data on n1 {REMEDY}",
        f"/data on n3 {REMEDY}",
        f"/wal on n3 {REMEDY}",
    ]


def test_a_run_starts_the_members_that_are_down() -> None:
    assert repair.quorum_problem({"n1": host(data=SEGMENT), "n2": host("failed", data=SEGMENT)}, {}) == ""


JOURNAL = "etcd runs on every host: see the journal (journalctl -u etcd)."
LOST = (
    "If most members are lost for good, run the playbook etcdops.headroom.restore_lost_quorum, which keeps the writes of those that are left. If no member "
    "has usable data, restore a backup with the playbook etcdops.headroom.restore."
)


@pytest.mark.parametrize(
    ("state", "free", "error", "problem"),
    [
        (
            "active",
            SEGMENT,
            "",
            f"has no quorum: 1 of 3 members are healthy, 2 are needed (no leader). Nothing was changed. {JOURNAL} {LOST}",
        ),
        (
            "inactive",
            1,
            "context deadline exceeded",
            "has no quorum: 1 of 3 members are healthy, 2 are needed (context deadline exceeded). Nothing was changed. Free space first. "
            f"{LOST} /data on n2 {REMEDY} /data on n3 {REMEDY}",
        ),
    ],
    ids=["all run", "full volumes"],
)
def test_a_cluster_without_a_quorum(state: str, free: int, error: str, problem: str) -> None:
    hosts = {"n1": host(data=SEGMENT), "n2": host(state, data=free), "n3": host(state, data=free)}
    assert repair.quorum_problem(hosts, {"quorum": {"healthy": 1}, "error": error}) == problem


def answer(*members: tuple[str, str]) -> dict[str, Any]:
    """Return what a cluster without a quorum answers: the names and roles of its members."""
    listed = [
        {"id": f"id{number}", "name": name, "role": role, "healthy": False, "health_error": f"error {number}"}
        for number, (name, role) in enumerate(members, 1)
    ]
    voters = sum(role != "learner" for _name, role in members)
    return {"members": listed, "quorum": {"voters": voters, "needed": voters // 2 + 1, "healthy": 0, "ok": False}}


THREE = answer(("m1", "follower"), ("m2", "follower"), ("", "follower"), ("m4", "learner"))
COUNT = "has no quorum: 0 of 3 voting members are healthy, 2 are needed (m1: error 1; m2: error 2; id3: error 3). Nothing was changed."
FEW = (
    "The cluster has 1 host in the inventory, too few for a quorum: if the other members can run again, put their hosts into the inventory, and start "
    "etcd on them."
)


@pytest.mark.parametrize(
    ("hosts", "problem"),
    [
        ({"n1": host(data=SEGMENT), "n2": host(data=SEGMENT)}, f"{COUNT} {JOURNAL} {LOST}"),
        # The hosts of the lost members are no longer in the inventory.
        ({"n1": host(data=SEGMENT)}, f"{COUNT} {FEW} {LOST}"),
        ({"n1": host("failed", data=SEGMENT)}, f"{COUNT} {FEW} {LOST}"),
        ({"n1": host("failed", data=1)}, f"{COUNT} Free space first. {FEW} {LOST} /data on n1 {REMEDY}"),
        ({"n1": host(data=SEGMENT), "n2": host("failed", data=SEGMENT)}, ""),
    ],
    ids=["all run", "one runs", "one is down", "one is full", "enough to start"],
)
def test_the_cluster_says_how_many_members_vote(hosts: dict[str, Any], problem: str) -> None:
    assert repair.quorum_problem(hosts, THREE) == problem
