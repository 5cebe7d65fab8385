# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the facts of a member, and format them for the report.

A member is a dict with ``host``, ``cluster`` (the cluster's name), ``name`` (etcd's name, if it differs from the host's),
``info`` (the result of etcd_cluster_info), ``plan`` (of etcd_memory_plan), ``fio`` (for "data" and "wal": ``p99_us`` and
``limit_us``), ``live`` (of etcd_disk_live_info), ``maintenance`` (the last record of each operation that has a timer),
``certificates`` (the result of etcd_tls_info), ``warnings`` and ``notes`` (sentences). Everything but host and cluster may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import DEFAULT_QUOTA, QUOTA
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import observed
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.live_latency import MIN_SAMPLES
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.layout import NONE

# Latencies of a running member: etcd_disk_live_info's name → the label in the report.
LIVE_LATENCIES = {"wal_fsync": "WAL fsync", "backend_commit": "backend commit"}

Member = Mapping[str, Any]


def best_view(members: Sequence[Member]) -> Mapping[str, Any]:
    """Return the best view of the cluster: with a quorum first, then with the most healthy members."""
    return observed.best_view((member.get("info") or {}).get("cluster") for member in members)


def is_deployed(members: Sequence[Member]) -> bool:
    """Return whether any member was queried about its cluster, which happens only after a deployment."""
    return any((member.get("info") or {}).get("cluster") for member in members)


def process(member: Member) -> Mapping[str, Any]:
    """Return etcd's process as etcd_cluster_info describes it, empty if unknown."""
    return (member.get("info") or {}).get("process") or {}


def running_quota(member: Member) -> int | None:
    """Return the quota in bytes with which etcd's process runs, from its journal or its metrics; None if unknown or unlimited."""
    quota = (process(member).get("settings") or {}).get(QUOTA)
    if quota is None or int(quota) < 0:
        return None
    return int(quota) or DEFAULT_QUOTA


def name(member: Member) -> str:
    """Return the member's name: as given, as etcd reports it, or its host's."""
    return str(member.get("name") or (member.get("info") or {}).get("member") or member.get("host") or NONE)


def planned_peak(member: Member) -> int | None:
    """Return the planned peak of RssAnon in bytes, the higher one of running and restarting; None without a plan."""
    return _planned(member, "rss_anon_peak", "restart_rss_anon_peak")


def largest_planned_peak(member: Member) -> int | None:
    """Return the planned peak of RssAnon in bytes at any time. With several members, any of them may lead while a follower receives a snapshot."""
    several = (member.get("plan") or {}).get("members", 1) > 1
    sending = ("follower_snapshot_rss_anon_peak",) if several else ()
    return _planned(member, "rss_anon_peak", "restart_rss_anon_peak", *sending)


def _planned(member: Member, *peaks: str) -> int | None:
    """Return the largest of these figures of the plan's estimate, None without a plan."""
    estimate = (member.get("plan") or {}).get("estimate") or {}
    return max((int(estimate[peak]) for peak in peaks if estimate.get(peak) is not None), default=None)


def largest(values: Iterable[int | None]) -> int | None:
    """Return the largest known value, None if there is none."""
    return max((value for value in values if value), default=None)


def size(value: int | None) -> str:
    """Format bytes as a table shows them."""
    return NONE if value is None else format_size(int(value))


def versions(cluster: Mapping[str, Any]) -> str:
    """Return the releases that the members run, each once."""
    return ", ".join(sorted({member["version"] for member in cluster.get("members", []) if member["version"]})) or NONE


def latency(measured: Mapping[str, Any] | None) -> str:
    """Format a p99 latency with its limit for a sentence: ``12.3 ms (limit 10)``."""
    if not measured or measured.get("p99_us") is None:
        return NONE
    text = f"{measured['p99_us'] / 1000:.1f} ms"
    return f"{text} (limit {measured['limit_us'] / 1000:g})" if measured.get("limit_us") else text


def compared_latency(measured: Mapping[str, Any] | None) -> str:
    """Format a p99 latency with its limit for a table: ``1.7 ms (< 10)``."""
    if not measured or measured.get("p99_us") is None:
        return NONE
    value, limit = measured["p99_us"], measured.get("limit_us")
    return f"{value / 1000:.1f} ms" + (f" ({'>' if value > limit else '<'} {limit / 1000:g})" if limit else "")


def live_latency(member: Member, operation: str) -> str:
    """Format a p99 latency of the running member, or its number of samples while they are too few; empty if unknown."""
    live = (member.get("live") or {}).get(operation)
    if not live:
        return ""
    return f"{live['samples']} samples" if live["samples"] < MIN_SAMPLES else f"{live['p99_us'] / 1000:.1f} ms"


def io_classes(member: Member) -> str:
    """Return the I/O classes of etcd's threads with the number of threads in each."""
    classes = process(member).get("io_classes") or {}
    return ", ".join(f"{io_class} ×{count}" for io_class, count in classes.items()) or NONE
