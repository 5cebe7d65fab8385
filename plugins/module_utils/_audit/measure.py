# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the workload of a running cluster: two readings of its metrics, its leases, and a sample of its keys.

Nothing is written. Keys are read from a follower if there is one, without a majority.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.access import (
    MeasureError,
    Timing,
    answering_cluster,
    choose_reader,
    count_leases,
    scrape_members,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.budget import Budget
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.condition import (
    describe_condition,
    read_certificates,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.groups import KUBERNETES
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.history import (
    History,
    PrometheusQuery,
    read_history,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import Reader, ReadError
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.sample import Sample, sample_range
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import Scrape, ScrapeError, load_between
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.workload import (
    MemberReading,
    Readings,
    kept_revisions,
    measured_workload,
    reference_member,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.key_ranges import prefix_end

_PAGE_BYTES = 256 << 10
_PAGE_KEYS = 20


@dataclass(frozen=True)
class Request:
    """What to measure. ``window`` is in seconds, ``sample_size`` in bytes, ``read_rate`` in bytes a second.

    metrics_urls: where members serve metrics, in any order; those of their client URLs otherwise. prefix: which keys to sample.
    ask: asks a Prometheus server for the past ``history`` seconds.
    """

    endpoints: list[str]
    metrics_urls: list[str]
    window: float
    sample_size: int
    read_rate: int
    prefix: bytes = b""
    ask: PrometheusQuery | None = None
    history: int = 0


def measure_workload(connection: Connection, request: Request, timing: Timing) -> dict[str, Any]:
    """Measure a cluster's workload. Returns the result of etcd_workload_info. Raises MeasureError and EtcdctlError."""
    _check(request)
    cluster = answering_cluster(connection, request.endpoints)
    ids = [member.id for member in cluster.members]
    history = read_history(request.ask, ids, request.history, timing.now()) if request.ask else None
    earlier = scrape_members(connection, cluster, request.metrics_urls, timing.clock)
    timing.pause(request.window)
    later = scrape_members(connection, cluster, request.metrics_urls, timing.clock)
    members = [_reading(member, cluster, earlier, later) for member in cluster.members]
    source = choose_reader(cluster)
    in_use = bytes_in_use(source, members)
    budget = Budget(
        request.sample_size,
        request.read_rate,
        in_use,
        expected_entry(in_use, members),
        _PAGE_BYTES,
        _PAGE_KEYS,
        timing.clock,
        timing.pause,
    )
    sample = _sample(connection, source, request.prefix, budget, timing)
    now = timing.now()
    certificates = read_certificates(connection, cluster.members, now)
    tls = any(url.startswith("https://") for member in cluster.members for url in member.client_urls)
    measured = measured_workload(
        Readings(members, sample, count_leases(connection, source.endpoint, later[source.id]), tls, history)
    )
    return {
        "etcd_workload": measured.workload,
        "basis": measured.basis,
        "unknown": measured.unknown_list(),
        "rates": measured.rates,
        "history": _describe_history(history),
        "sizes": measured.sizes,
        "sample": describe_sample(sample, budget, source),
        "cluster_id": cluster.id,
        "leader": cluster.leader,
        "alarms": cluster.alarms,
        "members": [
            {
                **describe_member(member, reading),
                **describe_condition(earlier[member.id], later[member.id], now),
                "certificate": certificates.get(member.id),
            }
            for member, reading in zip(cluster.members, members)
        ],
        "unreadable": [f"{one.name}: {one.problem}" for one in members if one.problem],
    }


def _check(request: Request) -> None:
    limits = {"window": (1, 3600), "sample_size": (1 << 16, 1 << 30), "read_rate": (1 << 16, 1 << 30)}
    for name, (low, high) in limits.items():
        value = getattr(request, name)
        if not low <= value <= high:
            raise MeasureError(f"{name} is {value:g}, but must lie between {low} and {high}")
    wrong = [url for url in request.metrics_urls if not url.startswith(("http://", "https://"))]
    if wrong:
        raise MeasureError(f"metrics_urls: {wrong}; write them like http://10.0.0.11:2381")


def _reading(
    member: Member, cluster: Cluster, earlier: dict[str, Scrape | str], later: dict[str, Scrape | str]
) -> MemberReading:
    name, leads = member.name or member.id, member.role == "leader"
    first, last = earlier[member.id], later[member.id]
    if isinstance(last, str):
        return MemberReading(name, leads, first if isinstance(first, Scrape) else None, None, last)
    if isinstance(first, str):
        return MemberReading(name, leads, last, None, first)
    try:
        return MemberReading(name, leads, last, load_between(first, last))
    except ScrapeError as error:
        return MemberReading(name, leads, last, None, str(error))


def bytes_in_use(source: Member, members: list[MemberReading]) -> int:
    """Return the bytes of data in the database, from the status or, where etcd denies that, from metrics."""
    found = (one.last.count("db_size_in_use") for one in members if one.last)
    return source.db_size_in_use or max((size for size in found if size is not None), default=0)


def expected_entry(in_use: int, members: list[MemberReading]) -> int:
    """Return about how many bytes a key and its value take in the database."""
    reference = reference_member(members)
    keys = reference.last.count("keys") if reference and reference.last else None
    kept = kept_revisions(reference) if reference else None
    return in_use // max(1, (keys or 0) + (kept or 0))


def _sample(connection: Connection, source: Member, prefix: bytes, budget: Budget, timing: Timing) -> Sample | str:
    try:
        return sample_range(Reader(connection, source.endpoint), budget, timing.random, prefix, prefix_end(prefix))
    except ReadError as error:
        return str(error)


def describe_sample(sample: Sample | str, budget: Budget, source: Member) -> dict[str, Any]:
    """Return what was sampled as etcd_workload_info does. sample: the reason if keys could not be sampled."""
    read = sample if isinstance(sample, Sample) else Sample()
    return {
        "member": source.name,
        "keys": len(read.keys),
        "keys_total": read.total,
        "complete": read.complete and not isinstance(sample, str),
        "kubernetes": any(key.name.startswith(KUBERNETES) for key, _weight in read.keys),
        "pages": budget.pages,
        "bytes": budget.read,
        "bytes_limit": budget.bound,
        "revision": read.revision,
        "problem": sample if isinstance(sample, str) else read.problem,
    }


def _describe_history(history: History | None) -> dict[str, Any] | None:
    if history is None:
        return None
    times = {name: format_utc(at) for name in ("begin", "end", "puts_peak_at") if (at := getattr(history, name))}
    return {**asdict(history), **times}


def describe_member(member: Member, reading: MemberReading) -> dict[str, Any]:
    """Return a member as etcd_workload_info does. Release and sizes come from its metrics if the user may not read its status."""
    last = reading.last
    # At the URL of another member they would be that member's.
    own = last if last and last.member_id == member.id else None
    figures = {
        name: last.count(name) if last else None
        for name in ("watchers", "watch_streams", "open_files", "resident_memory")
    }
    return {
        "name": member.name,
        "id": member.id,
        "role": member.role,
        "endpoint": member.endpoint,
        "client_urls": member.client_urls,
        "peer_urls": member.peer_urls,
        "version": member.version or (own.version if own else "") or None,
        "healthy": member.healthy,
        "db_size": member.db_size or (own.count("db_size") if own else None),
        "db_size_in_use": member.db_size_in_use or (own.count("db_size_in_use") if own else None),
        "lag": member.lag,
        "db_quota": member.db_quota or (last.count("quota") if last else None),
        "compact_revision": own.count("compact_revision") if own else None,
        **figures,
        "problem": member.health_error or _status_problem(member) or reading.problem,
    }


def _status_problem(member: Member) -> str:
    return f"its status could not be read: {member.status_error}" if member.status_error else ""


def summary_lines(result: dict[str, Any]) -> list[str]:
    """Return the measured workload as lines of text."""
    sample, workload = result["sample"], result["etcd_workload"]
    lines = [f"{name}: {value} ({result['basis'][name]})" for name, value in workload.items()]
    lines += [f"{one['name']}: unknown, {one['reason']}" for one in result["unknown"]]
    read, bound = format_size(sample["bytes"]), format_size(sample["bytes_limit"])
    lines.append(f"read {read} of keys and values from {sample['member']}, at most {bound}")
    return [*lines, *(f"unreadable: {text}" for text in result["unreadable"])]
