# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse to form a new cluster from the remains of one that served. Pure.

Members are as ``shapes.HostWithUrls`` describes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._membership import recovery


def new_cluster_problems(members: Sequence[Mapping[str, Any]], where: str) -> list[str]:
    """Return why hosts must not form a new cluster: they may be the remains of one that served."""
    return lost_cluster_problems(members, where) or unmounted_problems(members, where)


def unmounted_problems(members: Sequence[Mapping[str, Any]], where: str) -> list[str]:
    """Return the problem of volumes that may hold the data of a cluster, if a disk of it may have been replaced.

    Mounted during the run, the old members and the one on the blank disk would start as a new cluster: it votes without its log, and acknowledged
    writes are lost.
    """
    commands = [f"'{command}' on {member['host']}" for member in members for command in member.get("unmounted") or []]
    blank = [f"{device} of {member['host']}" for member in members for device in member.get("new_devices") or []]
    if not (commands and blank):
        return []
    return [
        f"{where}: volumes of etcd are not mounted and may hold the data of members, but {', '.join(blank)} is not a volume of etcd yet. If its disk was "
        "replaced, a run would form a cluster that lacks acknowledged writes. Mount the volumes, and run this again, so that it sees their data: run "
        f"{', '.join(commands)}. If nobody needs their data, erase them with 'wipefs --all DEVICE' instead"
    ]


def lost_cluster_problems(members: Sequence[Mapping[str, Any]], where: str) -> list[str]:
    """Return the problem of a cluster that served before and lost all its data: site.yml would form an empty one."""
    deployed = [member["host"] for member in members if member.get("deployed")]
    if any(member["has_data"] for member in members) or 2 * len(deployed) <= len(members):
        return []
    return [
        f"{where}: was deployed on {', '.join(deployed)}, but no host has data, so a run would form an empty cluster; check that the volumes are "
        f"mounted. If the data is lost, {recovery.advise({}, members, members)}. To form an empty cluster instead, first run 'systemctl disable etcd' "
        "on its hosts"
    ]
