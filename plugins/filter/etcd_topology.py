# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters over the members of all clusters of a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_topology(members: list[dict[str, Any]], absent: list[dict[str, Any]], fail: bool = True) -> dict[str, Any]:
    """Group members into clusters; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

    try:
        return topology.form_clusters(members, absent)
    except topology.TopologyError as error:
        if fail:
            raise AnsibleFilterError(str(error)) from error
        return {member["cluster"]: {"problem": str(error)} for member in members}


def etcd_update_order(members: list[dict[str, Any]]) -> dict[str, int]:
    """Order the members that must change; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

    return topology.update_order(members)


def etcd_join_problem(
    member: dict[str, Any],
    join: dict[str, Any],
    database: int,
    data_dir: str,
    wal_dir: str = "",
    volume: int | None = None,
    quota: int | None = None,
) -> str:
    """Check the old data and the space of a host that joins; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import space

    size = None if volume is None else int(volume)
    return space.join_problem(member, join, int(database), data_dir, wal_dir, size, quota)


def etcd_join_warnings(hosts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Warn of a leader without memory for a join; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import space

    return space.leader_warnings(
        [
            space.StayingMember(
                host=host["inventory_hostname"],
                planned_memory_max=host["etcd_plan"]["memory_max"],
                running_memory_max=(host["etcd_host_facts"].get("unit") or {}).get("memory_max") or 0,
                puts_per_second=host["etcd_plan"]["estimate"]["workload"]["puts_per_second"],
                snapshot_puts_per_second=host["etcd_plan"]["snapshot_puts_per_second"],
            )
            for host in hosts
        ]
    )


def etcd_cluster_failures(
    clusters: Mapping[str, Mapping[str, Any]],
    failed: Collection[str],
    variables: Mapping[str, Mapping[str, Any]],
    results: Sequence[str],
) -> list[str]:
    """Describe the clusters with failed hosts; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._report import failures

    return failures.cluster_failures(clusters, failed, variables, results)


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_topology": etcd_topology,
            "etcd_update_order": etcd_update_order,
            "etcd_join_problem": etcd_join_problem,
            "etcd_join_warnings": etcd_join_warnings,
            "etcd_cluster_failures": etcd_cluster_failures,
        }
