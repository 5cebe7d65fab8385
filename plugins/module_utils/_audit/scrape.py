# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the load on a member from two pages of its metrics. Pure.

Sources: server/storage/mvcc/metrics.go, server/storage/mvcc/metrics_txn.go and server/etcdserver/metrics.go of etcd 3.5, 3.6 and 3.7. A put is
counted on every member, because every member applies it; watchers, streams and traffic are those of the member itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import parse_samples
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import live_latency

# The names of each figure, newest first. etcd 3.4 and older kept more of them below etcd_debugging.
NAMES = {
    "puts": ("etcd_mvcc_put_total", "etcd_debugging_mvcc_put_total"),
    "put_bytes": ("etcd_mvcc_total_put_size_in_bytes", "etcd_debugging_mvcc_total_put_size_in_bytes"),
    "deletes": ("etcd_mvcc_delete_total", "etcd_debugging_mvcc_delete_total"),
    "ranges": ("etcd_mvcc_range_total", "etcd_debugging_mvcc_range_total"),
    "revision": ("etcd_mvcc_current_revision", "etcd_debugging_mvcc_current_revision"),
    "compact_revision": ("etcd_mvcc_compact_revision", "etcd_debugging_mvcc_compact_revision"),
    "keys": ("etcd_mvcc_keys_total", "etcd_debugging_mvcc_keys_total"),
    "watchers": ("etcd_mvcc_watcher_total", "etcd_debugging_mvcc_watcher_total"),
    "watch_streams": ("etcd_mvcc_watch_stream_total", "etcd_debugging_mvcc_watch_stream_total"),
    "db_size": ("etcd_mvcc_db_total_size_in_bytes", "etcd_debugging_mvcc_db_total_size_in_bytes"),
    "db_size_in_use": ("etcd_mvcc_db_total_size_in_use_in_bytes",),
    "quota": ("etcd_server_quota_backend_bytes",),
    "sent_bytes": ("etcd_network_client_grpc_sent_bytes_total",),
    "received_bytes": ("etcd_network_client_grpc_received_bytes_total",),
    "leases_granted": ("etcd_debugging_lease_granted_total",),
    "leases_revoked": ("etcd_debugging_lease_revoked_total",),
    "open_files": ("process_open_fds",),
    "resident_memory": ("process_resident_memory_bytes",),
    "started": ("process_start_time_seconds",),
}
# The figures that only grow while a member runs.
COUNTERS = ("puts", "put_bytes", "deletes", "ranges", "sent_bytes", "received_bytes", "revision")
_MEMBER_ID = "etcd_server_id"
_VERSION = "etcd_server_version"


class ScrapeError(ValueError):
    """A page that is not etcd's, or two pages that cannot be compared."""


@dataclass(frozen=True)
class Scrape:
    """One page of a member's metrics. ``figures``: by the names of NAMES, without those that the page lacks. ``at``: seconds.

    disk: the latencies of its disks and its leader changes, None if the page lacks one of them. version: empty if the page lacks it.
    """

    member_id: str
    figures: dict[str, float]
    at: float
    disk: live_latency.Metrics | None = None
    version: str = ""

    def count(self, name: str) -> int | None:
        """Return a figure as a whole number, None if the page lacks it."""
        return round(self.figures[name]) if name in self.figures else None


@dataclass(frozen=True)
class Load:
    """The load on a member in ``seconds``: the increase of each counter that both pages have."""

    seconds: float
    increase: dict[str, float]

    def rate(self, name: str) -> float | None:
        """Return a counter's increase a second, None if it is unknown."""
        return self.increase[name] / self.seconds if name in self.increase else None


def parse_scrape(page: str, at: float) -> Scrape:
    """Parse a page of metrics, read at a time in seconds. Raises ScrapeError if it is not an etcd member's."""
    found: dict[str, float] = {}
    member_id, version = "", ""
    for sample in parse_samples(page):
        if sample.name == _MEMBER_ID:
            member_id = sample.label("server_id") or ""
        elif sample.name == _VERSION:
            version = sample.label("server_version") or ""
        if sample.labels:
            continue
        try:
            number = sample.value
        except ValueError:
            continue
        if math.isfinite(number):
            found[sample.name] = number
    figures = {}
    for figure, names in NAMES.items():
        name = next((name for name in names if name in found), None)
        if name is not None:
            figures[figure] = found[name]
    if "puts" not in figures:
        raise ScrapeError(f"the page has no {NAMES['puts'][0]}: it is not that of an etcd member; set metrics_urls")
    return Scrape(member_id.lstrip("0"), figures, at, _disk(page), version)


def _disk(page: str) -> live_latency.Metrics | None:
    try:
        return live_latency.parse_metrics(page)
    except live_latency.MetricsError:
        return None


def load_between(earlier: Scrape, later: Scrape) -> Load:
    """Return the load between two pages of a member. Raises ScrapeError if it restarted in between."""
    both = [name for name in COUNTERS if name in earlier.figures and name in later.figures]
    increase = {name: later.figures[name] - earlier.figures[name] for name in both}
    if earlier.figures.get("started") != later.figures.get("started") or any(step < 0 for step in increase.values()):
        raise ScrapeError("it restarted between the two readings; measure again")
    if later.at <= earlier.at:
        raise ScrapeError("the two readings have no time between them; raise window")
    return Load(later.at - earlier.at, increase)
