# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a member's metrics: what it is busy with, and what its database holds. Pure.

Source: server/etcdserver/api/rafthttp/metrics.go, server/storage/backend/metrics.go and server/storage/mvcc/metrics.go of
etcd 3.5, 3.6 and 3.7, and the counters of the gRPC server.
"""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import parse_samples

_SNAPSHOT = 'grpc_method="Snapshot"'


@dataclass(frozen=True)
class MemberMetrics:
    """The figures of one page of metrics, None if missing; sizes in bytes.

    raft_snapshots: databases that are being sent to or received from another member. snapshot_downloads: databases that
    clients are downloading, as ``etcdctl snapshot save`` does. bytes_per_revision: the mean in the database. keys: live
    keys. history: about how many older revisions are kept. heap_goal: where Go collects garbage next. compactions: how many
    ended since the member started; each member compacts in the background, and nothing else shows the end.
    """

    raft_snapshots: int
    snapshot_downloads: int
    defragmenting: bool
    bytes_per_revision: int | None
    quota: int | None
    keys: int | None = None
    history: int | None = None
    heap_goal: int | None = None
    newest_revision: int | None = None
    compactions: int | None = None

    def defrag_obstacle(self) -> str:
        """Return the transfers that a defragmentation would interrupt; empty if there are none."""
        if self.defragmenting:
            return "is being defragmented"
        if self.raft_snapshots:
            return "sends or receives a snapshot for a member that fell behind"
        if self.snapshot_downloads:
            return "sends a snapshot to a client, and a defragmentation would block all requests until that is finished"
        return ""


def parse_member_metrics(page: str, in_use: int) -> MemberMetrics:
    """Parse a page of metrics. in_use: bytes of data in the member's database."""
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
    keys = _rounded(sums, "etcd_debugging_mvcc_keys_total")
    history = _history(sums, keys or 0)
    return MemberMetrics(
        raft_snapshots=round(
            sums.get("etcd_network_snapshot_send_inflights_total", 0)
            + sums.get("etcd_network_snapshot_receive_inflights_total", 0)
        ),
        snapshot_downloads=max(0, round(downloads)),
        defragmenting=sums.get("etcd_disk_defrag_inflight", 0) > 0,
        bytes_per_revision=_bytes_per_revision(sums, in_use, (keys or 0) + (history or 0)),
        quota=_rounded(sums, "etcd_server_quota_backend_bytes"),
        keys=keys,
        history=history,
        newest_revision=_rounded(sums, "etcd_debugging_mvcc_current_revision"),
        heap_goal=_rounded(sums, "go_memstats_next_gc_bytes"),
        compactions=_rounded(sums, "etcd_debugging_mvcc_db_compaction_total_duration_milliseconds_count"),
    )


def _bytes_per_revision(sums: dict[str, float], in_use: int, revisions: int) -> int | None:
    """Return the larger of two means: bytes in the database for each revision, and bytes of a put."""
    puts = sums.get("etcd_mvcc_put_total", 0)
    found = [in_use / revisions] if revisions else []
    if puts:
        found.append(sums.get("etcd_debugging_mvcc_total_put_size_in_bytes", 0) / puts)
    return round(max(found)) if found else None


def _history(sums: dict[str, float], keys: int) -> int | None:
    """Estimate how many revisions are kept in addition to those of the live keys.

    Every revision since the last compaction, as if each had changed a key; before the first compaction, every revision
    except one for each live key.
    """
    newest = _rounded(sums, "etcd_debugging_mvcc_current_revision")
    if newest is None:
        return None
    oldest = _rounded(sums, "etcd_debugging_mvcc_compact_revision") or 0
    return newest - oldest if oldest > 0 else max(0, newest - keys)


def _rounded(sums: dict[str, float], name: str) -> int | None:
    return round(sums[name]) if name in sums else None
