# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find problems of a deployed cluster."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.live_latency import MIN_SAMPLES
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.certificates import expiry_problems
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.layout import NONE
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.member import (
    LIVE_LATENCIES,
    Member,
    best_view,
    io_classes,
    is_deployed,
    largest_planned_peak,
    latency,
    name,
    process,
    running_quota,
    size,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.upkeep import backup_problems, upkeep_problems

# Percent of the quota: above it, little time is left before etcd refuses writes.
QUOTA_WARNING = 80
# Percent of the memory limit.
LIMIT_WARNING = 90
# Bytes: the kernel rounds a limit down to whole pages.
LARGEST_PAGE = 64 * 1024
ALARM_REMEDIES = {"NOSPACE": ": run the playbook nospace", "CORRUPT": ": run the playbook replace for that member"}


def cluster_problems(members: Sequence[Member], now: float) -> list[str]:
    """Return the cluster's problems as sentences, then those of each member. now: seconds since 1970."""
    cluster = best_view(members)
    quotas = {name(member): running_quota(member) for member in members}
    found = [
        *_quorum_problems(cluster, is_deployed(members)),
        *_cluster_member_problems(cluster, quotas),
        *_without_host_problems(cluster, quotas),
        *backup_problems(members, now),
    ]
    for member in members:
        problems = (
            *_process_problems(process(member)),
            *_memory_problems(member),
            *_latency_problems(member),
            *upkeep_problems(member),
            *expiry_problems(member),
        )
        found += [f"{name(member)}: {problem}" for problem in problems]
    return found


def _quorum_problems(cluster: Mapping[str, Any], deployed: bool) -> Iterator[str]:
    if not cluster.get("members"):
        if deployed:
            yield cluster.get("error") or "no member answers"
    elif not cluster["quorum"]["ok"]:
        yield (
            "the cluster has no quorum and accepts no writes: start its members, or, if most of them are lost for good, run the playbook restore_lost_quorum"
        )
    for alarm in cluster.get("alarms", []):
        yield f"alarm {alarm['type']} is set by {alarm['member']}{ALARM_REMEDIES.get(alarm['type'], '')}"
    for target in sorted({member.get("downgrade_to") or "" for member in cluster.get("members", [])} - {""}):
        yield f"a downgrade to {target} is enabled: finish or cancel it with the playbook downgrade"


def _cluster_member_problems(cluster: Mapping[str, Any], quotas: Mapping[str, int | None]) -> Iterator[str]:
    """Report the members' problems according to the cluster. quotas: of the running processes, because the status has a quota only since 3.6."""
    releases = {member["version"] for member in cluster.get("members", []) if member["version"]}
    if len(releases) > 1:
        yield f"members run different versions: {', '.join(sorted(releases))}"
    for member in cluster.get("members", []):
        label = member["name"] or member["id"]
        if not member["healthy"]:
            yield f"{label} is not healthy: {member['health_error']}"
        quota, used = member["db_quota"] or quotas.get(label), member["db_size"]
        # A negative quota limits nothing.
        if quota and quota > 0 and used and used * 100 >= quota * QUOTA_WARNING:
            yield f"{label}: the database fills {used * 100 // quota} % of its quota of {size(quota)}: raise the quota"


def _without_host_problems(cluster: Mapping[str, Any], host_members: Container[str]) -> Iterator[str]:
    """Report started members that are on no host of the run; one that never started has no name. host_members: the hosts' member names."""
    for member in cluster.get("members", []):
        if member["name"] and member["name"] not in host_members:
            remedy = "put its host into the inventory, or remove it with scale.yml"
            yield f"{member['name']} is a member, but on no host of this run: {remedy}"


def _process_problems(etcd: Mapping[str, Any]) -> Iterator[str]:
    """Report a stopped unit, restarts and kills."""
    if etcd and not etcd.get("running"):
        yield f"unit {etcd.get('unit')} is {etcd.get('active_state')} ({etcd.get('result') or NONE})"
    if etcd.get("restarts"):
        yield f"systemd restarted etcd {etcd['restarts']} times after it had failed"
    if etcd.get("oom_kills"):
        yield f"the kernel's OOM killer killed {etcd['oom_kills']} of its processes"


def _memory_problems(member: Member) -> Iterator[str]:
    """Report RssAnon against the plan and the limit, and the limit in force against the planned one."""
    etcd = process(member)
    anon, planned, limit = etcd.get("rss_anon"), largest_planned_peak(member), etcd.get("memory_limit")
    if anon and planned and anon > planned:
        measured, peak = format_sizes_distinctly(anon, planned)
        yield f"RssAnon {measured} is above the planned peak of {peak}: correct etcd_workload"
    if anon and limit and anon * 100 >= limit * LIMIT_WARNING:
        yield f"RssAnon {size(anon)} is {anon * 100 // limit} % of the memory limit {size(limit)}: raise etcd_memory_budget"
    planned_limit = (member.get("plan") or {}).get("memory_max")
    if etcd.get("running") and planned_limit and abs((limit or 0) - int(planned_limit)) >= LARGEST_PAGE:
        in_force, wanted = format_sizes_distinctly(limit or 0, int(planned_limit))
        yield f"the memory limit in force is {in_force if limit else 'none'}, planned is {wanted}"


def _latency_problems(member: Member) -> Iterator[str]:
    """Report threads that differ in I/O class, and volumes that are too slow."""
    if len(process(member).get("io_classes", {})) > 1:
        yield f"its threads have different I/O classes: {io_classes(member)}"
    for volume, measured in (member.get("fio") or {}).items():
        limit = (measured or {}).get("limit_us")
        if limit and measured.get("p99_us") and measured["p99_us"] > limit:
            yield f"fdatasync on the {volume} volume is too slow: p99 {latency(measured)}"
    for operation, label in LIVE_LATENCIES.items():
        live = (member.get("live") or {}).get(operation) or {}
        if live.get("samples", 0) >= MIN_SAMPLES and live["p99_us"] > live["limit_us"]:
            yield f"{label}s of the running member are too slow: p99 {latency(live)}"
