# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain an estimate in text: the reason for the size of each component, and remarks.

Private to the collection. Pure.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    format_count,
    format_size,
    format_sizes_distinctly,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.figures import Figures, Totals
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import (
    backend,
    clients,
    defrag,
    garbage,
    limits,
    storage,
)

# The components in the order of a report: field, name, kind. heap: all the time; spike: briefly; restart: at a start;
# defrag: during a defragmentation; file: mapped.
_COMPONENTS = (
    ("base", "base", "heap"),
    ("raft_log", "raft log", "heap"),
    ("peers", "peers", "heap"),
    ("index", "index", "heap"),
    ("watches", "watches", "heap"),
    ("connections", "connections", "heap"),
    ("leases", "leases", "heap"),
    ("requests", "requests", "heap"),
    ("write_batch", "write batch", "heap"),
    ("freelist", "freelist", "heap"),
    ("range_answers", "range answers", "spike"),
    ("watch_events", "watch events", "spike"),
    ("start_up", "start-up", "restart"),
)


class Row(NamedTuple):
    """A component as a report shows it; low and high in bytes."""

    name: str
    kind: str
    low: int
    high: int
    why: str


def component_rows(figures: Figures) -> list[dict[str, Any]]:
    """Return all components, as the module etcd_memory_estimate documents them."""
    low, high, reasons = figures.low(), figures.required.components, component_reasons(figures)
    rows = [
        Row(name, kind, getattr(low.components, field), getattr(high, field), reasons[name])
        for field, name, kind in _COMPONENTS
    ]
    rows += [
        Row(
            "defragmentation",
            "defrag",
            low.defragmentation,
            figures.defragmentation,
            reasons["defragmentation"],
        ),
        Row("database file", "file", low.db.size, figures.db.size, reasons["database file"]),
    ]
    return [row._asdict() for row in rows]


def component_reasons(figures: Figures) -> dict[str, str]:
    """Return the reason for the size of each component, by its name."""
    workload, db, constants = figures.workload, figures.db, figures.constants
    put = format_size(storage.put_size(workload))
    rewritten = backend.rewritten_pages(constants, workload, figures.settings, db)
    in_flight = clients.requests_in_flight(constants, workload, figures.members, rewritten)
    chunk = min(workload.keys + db.history, constants.restore_chunk)
    return {
        "base": "etcd itself, idle",
        "raft log": raft_log_reason(figures, put),
        "peers": f"connections to {format_count(figures.members - 1)} other members",
        "index": f"{format_count(workload.keys)} keys of {format_size(workload.key_size)}, "
        f"{format_count(db.history)} old versions",
        "watches": f"{format_count(workload.watchers)} watchers of {format_count(clients.watched_ranges(workload))} "
        f"ranges on {format_count(workload.watch_streams)} streams",
        "connections": f"{format_count(workload.clients)} clients, {'TLS' if workload.tls else 'plain'}",
        "leases": f"{format_count(workload.leases)} leases",
        "requests": f"{format_count(in_flight)} puts of {put} in flight",
        "write batch": write_batch_reason(figures, put),
        "freelist": f"up to {format_size(db.size - db.in_use)} of free pages in the database",
        "range answers": f"{format_size(workload.range_size)} of answers in flight",
        "watch events": f"{format_size(figures.required.components.watch_events)} of events in flight to watchers of the same ranges",
        "start-up": f"index rebuilt, {format_count(chunk)} revisions at a time",
        "defragmentation": f"one transaction copies {format_size(defrag.defrag_batch(constants, db))}",
        "database file": f"{format_count(workload.keys)} live and {format_count(db.history)} old revisions "
        f"of {format_size(db.revision)}",
    }


def write_batch_reason(figures: Figures, put: str) -> str:
    """Return the reason for the size of the largest commit. put: the size of one put, as text."""
    workload, constants = figures.workload, figures.constants
    if figures.required.components.write_batch > backend.write_batch(constants, workload, figures.db):
        deleted = backend.deleted_revisions(constants, workload, figures.settings, figures.db)
        return f"revisions of {put}, written again when a compaction deletes {format_count(deleted)} others"
    return (
        f"{format_count(workload.puts_per_second)} puts/s of {put}, committed every {constants.write_batch_period} ms"
    )


def raft_log_reason(figures: Figures, put: str) -> str:
    """Return the reason for the size of the raft log. put: the size of one put, as text."""
    settings, entries = figures.settings, format_count(figures.raft_entries)
    catchup = format_count(settings.snapshot_catchup_entries)
    if figures.constants.raft_compacts_every > 0:
        return f"{entries} entries of {put}, kept for slow followers: catch-up {catchup}"
    return (
        f"{catchup} to {entries} entries of {put}: "
        f"catch-up {catchup} and up to snapshot-count {format_count(settings.snapshot_count)} more"
    )


def notes(figures: Figures, totals: Totals) -> list[str]:
    """Return what a person should know in addition to the figures, in a fixed order."""
    return [*_raft_log_notes(figures), *_database_notes(figures), *_memory_notes(figures, totals)]


def _raft_log_notes(figures: Figures) -> list[str]:
    settings, constants = figures.settings, figures.constants
    texts = []
    if constants.raft_compacts_every > 0 and settings.snapshot_count > figures.raft_entries:
        texts.append(
            f"right after a restart etcd replays up to {format_count(settings.snapshot_count)} entries into memory, "
            f"RssAnon {format_size(figures.required.restart_rss_anon_peak)}: lower snapshot-count to bound this; "
            "it does not affect a running member"
        )
    if figures.raft_log_growth > 0:
        text = (
            f"while a follower receives a snapshot, and for {constants.snapshot_hold} s after it, the leader does not compact its raft log, "
            f"which grows by {format_size(figures.raft_log_growth)}, RssAnon {format_size(figures.required.follower_snapshot_rss_anon_peak)}"
        )
        needed = limits.memory_max_with_snapshot(constants, figures.required)
        if settings.memory_max is not None and settings.memory_max < needed:
            limit, least = format_sizes_distinctly(settings.memory_max, needed)
            text += f": MemoryMax {limit} may kill it, {least} would not"
        texts.append(text)
    return texts


def _database_notes(figures: Figures) -> list[str]:
    workload, settings, db = figures.workload, figures.settings, figures.db
    texts = []
    if settings.retention == 0 and workload.revisions_per_key is None and workload.puts_per_second > 0:
        texts.append(
            "compaction is off: history grows until the quota of " + format_size(db.limit) + " stops all writes"
            if settings.quota_backend_bytes >= 0
            else "compaction is off and there is no quota: the database grows without a bound"
        )
    if db.live > db.limit:
        live, quota = format_sizes_distinctly(db.live, db.limit)
        texts.append(f"the live keys alone take {live}, more than the quota of {quota}: etcd will refuse writes")
    return texts


def _memory_notes(figures: Figures, totals: Totals) -> list[str]:
    settings, required = figures.settings, figures.required
    texts = []
    lowest = garbage.smallest_heap(figures.constants, required.heap_live, 0)
    if settings.gomemlimit is not None and settings.gomemlimit < lowest:
        limit, needed = format_sizes_distinctly(settings.gomemlimit, lowest)
        texts.append(
            f"GOMEMLIMIT {limit} is below the {needed} that the live heap of {format_size(required.heap_live)} needs: "
            "Go would collect garbage all the time"
        )
    if settings.memory_mlock:
        texts.append("memory_mlock keeps the whole database in memory: it counts in full")
    bound = settings.memory_max or totals.memory_max_recommended
    if totals.defrag_rss_anon_peak > bound:
        needed, limit = format_sizes_distinctly(totals.defrag_rss_anon_peak, bound)
        texts.append(
            f"a defragmentation briefly needs {needed}, more than a MemoryMax of {limit}: raise the limit while it runs"
        )
    if settings.memory_max is not None and settings.memory_max < required.memory_max_least:
        limit, needed = format_sizes_distinctly(settings.memory_max, required.memory_max_least)
        texts.append(f"MemoryMax {limit} is below the {needed} that the member needs")
    elif settings.memory_max is not None and settings.memory_max < totals.memory_max_recommended:
        limit, needed = format_sizes_distinctly(settings.memory_max, totals.memory_max_recommended)
        texts.append(
            f"MemoryMax {limit} has no room for the whole database of up to {format_size(figures.db.size)} in addition to "
            "the peak: etcd rereads evicted pages from the disk, mostly during compaction and at a start; "
            f"{needed} has room for it"
        )
    return texts
