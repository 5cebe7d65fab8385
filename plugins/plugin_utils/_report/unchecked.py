# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List what an audit could not check, so that an audit without findings is not mistaken for a healthy cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inspected_members import process_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.running_members import is_of_other_cluster
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_plans import member_name

Process = Mapping[str, Any]


def unchecked(
    measured: Mapping[str, Any],
    processes: Sequence[Process],
    backups: Sequence[Mapping[str, Any]],
    hosts: Mapping[str, str],
    backup_dirs: Sequence[str] = (),
    comparison: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return what was not checked and why, one line each.

    measured: as etcd_workload_info returns it. processes, backups: as etcd_process_info returns them on all hosts. hosts: why
    inspected hosts returned no process, by their names in the inventory. backup_dirs: where the hosts were to be searched for backups. comparison: of
    the members' hashes as etcd_cluster_info returns it, or ``problem``, the reason for having none.
    """
    lines = [
        *(f"{host}: {' '.join(reason.split())}" for host, reason in sorted(hosts.items())),
        *_of_members(measured),
        *_of_comparison(measured, comparison or {}),
        *(_of_hosts(measured, processes) if processes or hosts else ()),
        *_of_processes(measured, processes),
        *(f"{one['hostname']}: {one['problem']}" for one in backups if one["problem"]),
        *([f"backups: no host was searched for {', '.join(backup_dirs)}"] if backup_dirs and not backups else ()),
    ]
    return list(dict.fromkeys(lines))


def _of_members(measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of members, and certificates of client ports that could not be read."""
    for member in measured["members"]:
        # The rule live/unhealthy has the problem of an unhealthy member.
        if member["healthy"] and member["problem"]:
            yield f"{member_name(member)}: {member['problem']}"
        problem = (member.get("certificate") or {}).get("problem")
        if problem:
            yield f"{member_name(member)}: {problem}"
    yield from measured.get("unreadable", [])


def _of_comparison(measured: Mapping[str, Any], comparison: Mapping[str, Any]) -> Iterator[str]:
    unknown = comparison.get("unknown") or {}
    if comparison.get("problem"):
        yield f"hashes of all keys: {' '.join(comparison['problem'].split())}"
    elif is_of_other_cluster(measured, comparison):
        yield (
            f"hashes of all keys: those of cluster {comparison['cluster_id']} were compared, and cluster {measured['cluster_id']} was measured: "
            "set endpoints to members of one cluster"
        )
    elif comparison.get("verdict") == hashes.UNKNOWN:
        yield f"hashes of all keys: {hashes.describe(comparison)}"
    elif unknown:
        yield f"hashes of all keys: not compared: {'; '.join(f'{name}: {why}' for name, why in sorted(unknown.items()))}"


def _of_hosts(measured: Mapping[str, Any], processes: Sequence[Process]) -> Iterator[str]:
    """Yield members without a process on the hosts that were inspected, which may lack the member's host."""
    for member in measured["members"]:
        if process_of(member, processes) is None:
            yield f"{member_name(member)}: no process of its host was read: settings, limit, disk and certificates were not checked"


def _of_processes(measured: Mapping[str, Any], processes: Sequence[Process]) -> Iterator[str]:
    """Yield processes that could not be read or belong to no member, and the files of certificates that could not be read."""
    matched = [process_of(member, processes) for member in measured["members"]]
    for process in processes:
        etcd = f"etcd with PID {process['pid']} on {process['hostname']}"
        if process["problem"]:
            yield f"{etcd}: {process['problem']}"
        if not any(process is one for one in matched):
            urls = f", client URLs {', '.join(process['client_urls'])}" if process["client_urls"] else ""
            yield f"{etcd} (name {process['name']}{urls}) matches no member, or not clearly one"
        for file in process["certificates"]:
            if file["problem"]:
                yield f"{etcd}: {file['flag']} {file['path']}: {file['problem']}"
