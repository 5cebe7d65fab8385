# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a member is busy with and what its database holds, from its metrics. Private to the collection. Pure.

etcd 3.5, 3.6 and 3.7 have all of these: server/etcdserver/api/rafthttp/metrics.go, server/storage/backend/metrics.go,
server/storage/mvcc/metrics.go, and the counters of gRPC's server.
"""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import parse_samples

_SNAPSHOT = 'grpc_method="Snapshot"'


@dataclass(frozen=True)
class MemberMetrics:
    """One reading of /metrics; None is what the member does not say.

    raft_snapshots: whole databases on their way to or from another member. downloads: of clients, as
    ``etcdctl snapshot save`` makes them. revision: mean bytes of a revision in the database. keys, history: live keys, and
    about how many further revisions are kept. heap_goal: bytes up to which Go lets the heap grow before it collects.
    quota: bytes. newest: the newest revision.
    """

    raft_snapshots: int
    downloads: int
    defragmenting: bool
    revision: int | None
    quota: int | None
    keys: int | None = None
    history: int | None = None
    heap_goal: int | None = None
    newest: int | None = None

    def obstacle(self) -> str:
        """Say what a defragmentation would get in the way of, or return an empty string."""
        if self.defragmenting:
            return "is being defragmented"
        if self.raft_snapshots:
            return "sends or receives a snapshot for a member that fell behind"
        if self.downloads:
            return (
                "sends a snapshot to a client, which a defragmentation would have to wait for, holding up all requests"
            )
        return ""


def parse_member_metrics(page: str, in_use: int) -> MemberMetrics:
    """Read a page of metrics of a member whose database has ``in_use`` bytes of data."""
    sums: dict[str, float] = {}
    downloads = 0.0
    for sample in parse_samples(page):
        name = sample.name
        try:
            number = sample.value
        except ValueError:
            continue
        if _SNAPSHOT in sample.labels and name in ("grpc_server_started_total", "grpc_server_handled_total"):
            downloads += number if name == "grpc_server_started_total" else -number
        elif name != "grpc_server_handled_total":
            sums[name] = sums.get(name, 0.0) + number
    keys = _whole(sums, "etcd_debugging_mvcc_keys_total")
    history = _history(sums, keys or 0)
    return MemberMetrics(
        raft_snapshots=round(
            sums.get("etcd_network_snapshot_send_inflights_total", 0)
            + sums.get("etcd_network_snapshot_receive_inflights_total", 0)
        ),
        downloads=max(0, round(downloads)),
        defragmenting=sums.get("etcd_disk_defrag_inflight", 0) > 0,
        revision=_revision(sums, in_use, (keys or 0) + (history or 0)),
        quota=_whole(sums, "etcd_server_quota_backend_bytes"),
        keys=keys,
        history=history,
        newest=_whole(sums, "etcd_debugging_mvcc_current_revision"),
        heap_goal=_whole(sums, "go_memstats_next_gc_bytes"),
    )


def _revision(sums: dict[str, float], in_use: int, revisions: int) -> int | None:
    """Return the mean bytes of a revision: what the database has for each, or what a put had, whichever is more."""
    puts = sums.get("etcd_mvcc_put_total", 0)
    found = [in_use / revisions] if revisions else []
    if puts:
        found.append(sums.get("etcd_debugging_mvcc_total_put_size_in_bytes", 0) / puts)
    return round(max(found)) if found else None


def _history(sums: dict[str, float], keys: int) -> int | None:
    """Return about how many revisions are kept beside those of the live keys.

    All since the last compaction, had they only changed keys; before the first one, all but the live ones.
    """
    newest = _whole(sums, "etcd_debugging_mvcc_current_revision")
    if newest is None:
        return None
    oldest = _whole(sums, "etcd_debugging_mvcc_compact_revision") or 0
    return newest - oldest if oldest > 0 else max(0, newest - keys)


def _whole(sums: dict[str, float], name: str) -> int | None:
    return round(sums[name]) if name in sums else None
