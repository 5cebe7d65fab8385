# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find why members of a cluster do not answer, and what repairs it, in the facts of their hosts. Pure.

The facts of a host are the result of etcd_host_info.
"""

from __future__ import annotations

from collections.abc import Mapping
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

    Starting them is the repair, and cannot make it worse, unless they are down because a volume is full. cluster: its answer.
    """
    down = any(facts["unit"]["active_state"] != "active" for facts in hosts.values())
    full = full_volumes(hosts)
    if down and not full:
        return ""
    return (
        f"has no quorum: {cluster['quorum']['healthy']} of {len(hosts)} members are healthy, {len(hosts) // 2 + 1} are needed "
        f"({cluster.get('error') or 'no leader'}). Nothing was changed. "
        f"{'Free space first.' if down else 'etcd runs on every host: see the journal (journalctl -u etcd).'} "
        f"If data is lost, restore a backup. {' '.join(full)}"
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
