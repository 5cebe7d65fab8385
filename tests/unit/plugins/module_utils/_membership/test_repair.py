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


@pytest.mark.parametrize(
    ("state", "free", "error", "problem"),
    [
        (
            "active",
            SEGMENT,
            "",
            "has no quorum: 1 of 3 members are healthy, 2 are needed (no leader). Nothing was changed. etcd runs on every host: see the journal "
            "(journalctl -u etcd). If data is lost, restore a backup. ",
        ),
        (
            "inactive",
            1,
            "context deadline exceeded",
            "has no quorum: 1 of 3 members are healthy, 2 are needed (context deadline exceeded). Nothing was changed. Free space first. If data is "
            f"lost, restore a backup. /data on n2 {REMEDY} /data on n3 {REMEDY}",
        ),
    ],
    ids=["all run", "full volumes"],
)
def test_a_cluster_without_a_quorum(state: str, free: int, error: str, problem: str) -> None:
    hosts = {"n1": host(data=SEGMENT), "n2": host(state, data=free), "n3": host(state, data=free)}
    assert repair.quorum_problem(hosts, {"quorum": {"healthy": 1}, "error": error}) == problem
