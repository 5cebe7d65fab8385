# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find why members of a cluster do not answer, and what repairs it, in the facts of their hosts. Pure.

The facts of a host are the result of etcd_host_info.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import SEGMENT_BYTES

Facts = Mapping[str, Any]


def expired_hosts(hosts: Mapping[str, Facts]) -> list[str]:
    """Return the hosts whose certificate or CA has expired or is not valid yet: new certificates are the repair."""
    return [host for host, facts in hosts.items() if _has_expired(facts.get("certificates") or {})]


def _has_expired(found: Mapping[str, Any]) -> bool:
    inspected = [found.get("ca"), found.get("peer_ca"), *(found.get("certificates") or {}).values()]
    return any(one and (one.get("expired") or one.get("not_yet_valid")) for one in inspected)


def quorum_problem(hosts: Mapping[str, Facts], cluster: Mapping[str, Any]) -> str:
    """Return why a cluster without a quorum does not accept a change; empty if this run starts the members that are down.

    Starting them is the repair, and cannot make it worse, unless they are down because a volume is full. cluster: its answer. It says how many members
    vote, because the hosts of lost members may no longer be in the inventory. If no member answers, each host counts.
    """
    voters = [member for member in cluster.get("members", []) if member["role"] != "learner"]
    count = len(voters) or len(hosts)
    needed = count // 2 + 1
    down = any(facts["unit"]["active_state"] != "active" for facts in hosts.values())
    full = full_volumes(hosts)
    if down and not full and len(hosts) >= needed:
        return ""
    silent = [f"{one['name'] or one['id']}: {one['health_error']}" for one in voters if not one["healthy"]]
    return " ".join(
        [
            f"has no quorum: {cluster['quorum']['healthy']} of {count} {'voting ' if voters else ''}members are healthy, {needed} are needed "
            f"({'; '.join(silent) or cluster.get('error') or 'no leader'}). Nothing was changed.",
            *_quorum_remedies(len(hosts), needed, down=down, full=bool(full)),
            *full,
        ]
    )


def _quorum_remedies(hosts: int, needed: int, *, down: bool, full: bool) -> Iterator[str]:
    """Yield what to do about a missing quorum. hosts: how many the inventory has. needed: members. down: a host's member. full: a volume."""
    if down and full:
        yield "Free space first."
    if hosts < needed:
        yield (
            f"The cluster has {hosts} host{'' if hosts == 1 else 's'} in the inventory, too few for a quorum: if the other members can run again, put "
            "their hosts into the inventory, and start etcd on them."
        )
    elif not down:
        yield "etcd runs on every host: see the journal (journalctl -u etcd)."
    yield (
        "If most members are lost for good, run the playbook etcdops.headroom.restore_lost_quorum, which keeps the writes of those that are left. If no "
        "member has usable data, restore a backup with the playbook etcdops.headroom.restore."
    )


def full_volumes(hosts: Mapping[str, Facts]) -> list[str]:
    """Return a sentence for each volume with less space than one more file of the write-ahead log.

    If most members have full volumes, the cluster loses its quorum.
    """
    full = {
        (mount["covered_by"], host): None
        for host, facts in hosts.items()
        for mount in facts["mounts"].values()
        if mount["exists"] and mount["available"] < SEGMENT_BYTES
    }
    return [
        f"{path} on {host} is full: remove what is not etcd's, or enlarge the device and grow its filesystem (resize2fs, xfs_growfs), then start etcd."
        for path, host in full
    ]
