# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters over the hosts of a cluster: why etcd cannot run or does not answer, what changes, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.

Variables = Mapping[str, Any]


def etcd_absent_hosts(
    present: Sequence[str], hostvars: Mapping[str, Variables], groups: Mapping[str, Sequence[str]]
) -> list[dict[str, str]]:
    """Find the hosts that a run leaves out; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._play import absent_hosts

    return absent_hosts.absent_hosts(present, hostvars, groups)


def etcd_update_candidates(hosts: Iterable[Variables]) -> list[dict[str, Any]]:
    """Describe members for the update order; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._play import members

    return [members.update_candidate(host) for host in hosts]


def etcd_report_members(hosts: Iterable[Variables]) -> list[dict[str, Any]]:
    """Describe members for the report; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._play import members

    return [members.report_member(host) for host in hosts]


def etcd_host_obstacles(
    facts: Mapping[str, Any],
    settings: Mapping[str, Any],
    user: str,
    address: str | None,
    archive_problem: str = "",
    memory_problem: str = "",
    restoring: bool = False,
    restores: bool = False,
) -> list[str]:
    """Find why etcd cannot run on a host; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import host_obstacles, unit_settings

    checked = unit_settings.UnitSettings(**settings)
    plan = host_obstacles.HostPlan(checked, user, address, archive_problem, memory_problem, restoring, restores)
    return host_obstacles.host_obstacles(facts, plan)


def etcd_member_differences(
    planned: Mapping[str, Any], facts: Mapping[str, Any], paths: Mapping[str, str]
) -> dict[str, Any]:
    """Compare a member with its configuration; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import differences

    return differences.compare_member(differences.Planned(**planned), facts, differences.Paths(**paths))


def etcd_expired_hosts(hosts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the hosts with expired certificates; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import repair

    return repair.expired_hosts(hosts)


def etcd_quorum_problem(hosts: Mapping[str, Mapping[str, Any]], cluster: Mapping[str, Any]) -> str:
    """Return why a cluster without a quorum accepts no change; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import repair

    return repair.quorum_problem(hosts, cluster)


def etcd_aside_problem(mount_points: Sequence[str], data_dir: str, wal_dirs: Sequence[str]) -> str:
    """Return why the data of a member cannot be moved aside; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import retirement

    return retirement.aside_problem(mount_points, data_dir, wal_dirs)


def etcd_unfound_members(
    clusters: Iterable[Mapping[str, Any]], hosts: Mapping[str, str], given: Sequence[str]
) -> list[str]:
    """Return the removed members whose hosts are unknown; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._membership import retirement

    removals = [removal for one in clusters for removal in one.get("membership", {}).get("removes", [])]
    return retirement.unfound_members(removals, hosts, given)


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_absent_hosts": etcd_absent_hosts,
            "etcd_update_candidates": etcd_update_candidates,
            "etcd_report_members": etcd_report_members,
            "etcd_host_obstacles": etcd_host_obstacles,
            "etcd_member_differences": etcd_member_differences,
            "etcd_expired_hosts": etcd_expired_hosts,
            "etcd_quorum_problem": etcd_quorum_problem,
            "etcd_aside_problem": etcd_aside_problem,
            "etcd_unfound_members": etcd_unfound_members,
        }
