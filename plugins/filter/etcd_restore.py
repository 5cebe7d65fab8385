# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters of role etcd_restore, over all hosts of a restore."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_start_order(generations: Mapping[str, int], unprepared: Sequence[str]) -> dict[str, Any]:
    """Choose the members that start later; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore_hosts

    return restore_hosts.start_order(generations, unprepared)


def etcd_snapshot_clusters(ids: Mapping[str, str], origins: Mapping[str, str], host: str, running: str) -> list[str]:
    """Return the clusters whose snapshots belong to a cluster; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore_hosts

    return restore_hosts.snapshot_clusters(host, running, ids, origins)


def etcd_running_majority(
    members: Mapping[str, Mapping[str, Any]], active: Sequence[str], answers: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the hosts that run a majority of the voting members; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import recovery

    return recovery.running_majority(members, active, answers)


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_start_order": etcd_start_order,
            "etcd_snapshot_clusters": etcd_snapshot_clusters,
            "etcd_running_majority": etcd_running_majority,
        }
