# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The condition of a member as its endpoint shows it: disk latencies, leader changes and its certificate."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import Scrape
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.live_latency import (
    MIN_SAMPLES,
    Latency,
    LiveLatency,
    Metrics,
    MetricsError,
    latency_between,
    latency_since_start,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._tls.server_certificate import (
    CertificateError,
    fetch_validity,
)

_THREADS = 16
# Too few samples for a 99th percentile can still show that a slow disk has recovered: from this many on, their slowest counts.
_MIN_RECENT_SAMPLES = 20
UNKNOWN: dict[str, Any] = {
    "wal_fsync": None,
    "backend_commit": None,
    "leader_changes": None,
    "leader_changes_since_start": None,
    "uptime": None,
}


def describe_condition(earlier: Scrape | str, later: Scrape | str, now: float) -> dict[str, Any]:
    """Return disk latencies and leader changes from two pages of metrics. Null where a page lacks them.

    earlier, later: a page each, or why it could not be read. now: seconds since 1970.
    Latencies are those of the window. If it has too few for a 99th percentile, they are those since the member started. If even the few of the
    window are faster, they count: a disk that was slow only before is not slow now.
    """
    if not isinstance(later, Scrape) or later.disk is None:
        return dict(UNKNOWN)
    last = later.disk
    overall = latency_since_start(last, now)
    window = _window(earlier, later, last)
    return {
        "wal_fsync": _latency(lambda span: span.wal_fsync, window, overall),
        "backend_commit": _latency(lambda span: span.backend_commit, window, overall),
        "leader_changes": window.leader_changes if window else None,
        "leader_changes_since_start": overall.leader_changes,
        "uptime": round(overall.seconds) if last.started is not None else None,
    }


def _window(earlier: Scrape | str, later: Scrape, last: Metrics) -> LiveLatency | None:
    if not isinstance(earlier, Scrape) or earlier.disk is None:
        return None
    try:
        return latency_between(earlier.disk, last, later.at - earlier.at)
    except MetricsError:
        return None


def _latency(
    read: Callable[[LiveLatency], Latency], window: LiveLatency | None, overall: LiveLatency
) -> dict[str, Any] | None:
    """Return the latency to judge: of the window, or since the start. None if both have too few samples."""
    span = _span_to_judge(read, window, overall)
    if span is None:
        return None
    latency = read(span)
    return {
        "p99_us": latency.p99_us,
        "samples": latency.samples,
        "seconds": round(span.seconds),
        "since_start": span.since_start,
    }


def _span_to_judge(
    read: Callable[[LiveLatency], Latency], window: LiveLatency | None, overall: LiveLatency
) -> LiveLatency | None:
    since_start = read(overall)
    has_enough = since_start.samples >= MIN_SAMPLES
    if window:
        recent = read(window)
        if recent.samples >= MIN_SAMPLES or (has_enough and _has_recovered(recent, since_start)):
            return window
    return overall if has_enough else None


def _has_recovered(recent: Latency, overall: Latency) -> bool:
    """Return whether the few samples of the window are lower than all since the start."""
    if recent.samples < _MIN_RECENT_SAMPLES or recent.p99_us is None or overall.p99_us is None:
        return False
    return recent.p99_us < overall.p99_us


def read_certificates(connection: Connection, members: list[Member], now: float) -> dict[str, dict[str, Any]]:
    """Return validity and names of the certificates that members show to clients, by member id; members without TLS are left out.

    ``problem`` says why a certificate could not be read. now: seconds since 1970.
    """
    secured = [member for member in members if member.endpoint.startswith("https://")]
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        found = list(pool.map(lambda member: _certificate(connection, member.endpoint, now), secured))
    return {member.id: certificate for member, certificate in zip(secured, found)}


def _certificate(connection: Connection, url: str, now: float) -> dict[str, Any]:
    try:
        validity = fetch_validity(connection, url)
    except CertificateError as error:
        return {"days_left": None, "not_after": None, "valid_from": None, "names": [], "problem": str(error)}
    return {
        "days_left": validity.days_left(now),
        "not_after": validity.date(),
        "valid_from": validity.start(now),
        "names": validity.names,
        "problem": "",
    }
