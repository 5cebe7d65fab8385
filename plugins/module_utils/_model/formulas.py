# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arithmetic of the memory model: every formula, once.

Private to the collection. Pure, and integers only. tools/rego_from_formulas.py renders policies/lib/formulas from the syntax
tree of this file, and the table of formulas in docs/memory-model.md; it refuses everything outside this subset:

- a function assigns names, then returns one expression
- expressions use + - * //, min, max, the functions of arithmetic.py, other formulas, and the records below, by keyword
- a conditional expression stands directly behind `return`, and its conditions compare, or name a flag

A product that may pass 2^63 is written with scale_up or permille, because OPA's numbers are exact only up to there. A formula
takes the constants of one series, at one end of their ranges: with CONSTANTS_LOW it returns the low end of a figure, with
CONSTANTS_HIGH the high one. model/memory.yml has each constant with its source. Formulas hold for 3.5, 3.6 and 3.7, unless
"Releases" says otherwise; a source without a host is a path in etcd's repository.
"""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import (
    divide_up,
    permille,
    scale_up,
    size_class,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload

MIB = 1024 * 1024
# The upper bound of a database without a quota, which keeps all figures finite.
NO_QUOTA = 1024 * 1024 * 1024 * 1024 * 1024


@dataclass(frozen=True)
class Database:
    """The database file: bytes, but for history, which counts revisions."""

    revision: int
    history: int
    live: int
    limit: int
    in_use: int
    size: int


@dataclass(frozen=True)
class Components:
    """The bytes of each part of a member."""

    base: int
    raft_log: int
    peers: int
    index: int
    watches: int
    connections: int
    leases: int
    requests: int
    write_batch: int
    freelist: int
    range_answers: int
    watch_events: int
    start_up: int


@dataclass(frozen=True)
class Required:
    """The memory that a member needs, in bytes, and the components that it consists of."""

    components: Components
    heap_live: int
    restart_heap_live: int
    rss_anon_peak: int
    restart_rss_anon_peak: int
    db_hot: int
    outside_go: int
    memory_max_least: int


def put_size(workload: Workload) -> int:
    """Return the size of one put.

    Unit: bytes
    Source: the workload
    """
    return workload.key_size + workload.value_size


def kept_revisions(constants: Constants, workload: Workload, settings: Settings, room: int) -> int:
    """Return the old revisions at the peak, just before a compaction; room is the number of revisions that the quota allows.

    Unit: revisions beyond the live ones
    Source: server/etcdserver/api/v3compactor/periodic.go and revision.go
    """
    return (
        (workload.revisions_per_key - 1) * workload.keys
        if workload.revisions_per_key is not None
        else room
        if settings.retention == 0 and workload.puts_per_second > 0
        else 0
        if settings.retention == 0
        else settings.retention + workload.puts_per_second * constants.compaction_revision_check
        if settings.auto_compaction_mode == "revision"
        else workload.puts_per_second * permille(settings.retention, constants.compaction_periodic_peak)
        if settings.retention <= constants.compaction_hour
        else workload.puts_per_second * (settings.retention + constants.compaction_long_extra)
    )


def database_limit(constants: Constants, settings: Settings) -> int:
    """Return the largest database that the quota allows. A quota of 0 means etcd's default, a negative one no quota.

    Unit: bytes
    Source: server/storage/quota.go
    """
    return (
        settings.quota_backend_bytes
        if settings.quota_backend_bytes > 0
        else constants.quota_default
        if settings.quota_backend_bytes == 0
        else NO_QUOTA
    )


def database(constants: Constants, workload: Workload, settings: Settings) -> Database:
    """Return the database file, from the number of revisions, and of revisions in each leaf of bbolt's tree.

    Unit: bytes; history in revisions
    Source: go.etcd.io/bbolt, node.go; server/storage/backend/batch_tx.go
    """
    element = constants.db_revision_overhead + put_size(workload)
    leaf = max(constants.db_leaf_min, constants.db_leaf_fill // element)
    pages = divide_up(constants.db_page_header + leaf * element, constants.db_page)
    revision = divide_up(pages * constants.db_page, leaf)
    limit = database_limit(constants, settings)
    live = workload.keys * revision
    room = max(limit - live, 0) // revision
    history = min(kept_revisions(constants, workload, settings, room), room)
    in_use = min(live + history * revision, limit)
    size = min(permille(in_use, constants.db_churn), limit)
    return Database(revision=revision, history=history, live=live, limit=limit, in_use=in_use, size=size)


def raft_entries(constants: Constants, settings: Settings) -> int:
    """Return the entries of the raft log in memory just before they are compacted.

    3.5 compacts the log with each disk snapshot, 3.6 and later each 100 entries.

    Unit: entries
    Source: server/etcdserver/server.go, snapshot and compactRaftLog
    """
    return (
        settings.snapshot_catchup_entries + constants.raft_compacts_every + 1
        if constants.raft_compacts_every > 0
        else settings.snapshot_catchup_entries + settings.snapshot_count + 1
    )


def raft_entry(constants: Constants, workload: Workload) -> int:
    """Return the size of one put in the raft log.

    Unit: bytes
    Source: raftpb.Entry, and Go's size classes in runtime/sizeclasses.go
    """
    return size_class(put_size(workload) + constants.raft_entry_overhead) + constants.raft_entry_struct


def raft_log_growth(constants: Constants, workload: Workload, settings: Settings) -> int:
    """Return the growth of the raft log while a follower receives a snapshot: in 30 s, or before 3.6 in one skipped compaction.

    Unit: bytes
    Source: server/etcdserver/server.go, compactRaftLog
    """
    return (
        30 * workload.puts_per_second * raft_entry(constants, workload)
        if constants.raft_compacts_every > 0
        else settings.snapshot_count * raft_entry(constants, workload)
    )


def index(constants: Constants, workload: Workload, history: int) -> int:
    """Return the index: each key with its slot in the tree and its versions.

    Unit: bytes
    Source: server/storage/mvcc/index.go and key_index.go
    """
    key = constants.index_key + size_class(workload.key_size) + constants.index_version
    old = history * constants.index_version
    return workload.keys * (key + constants.index_slot) + permille(old, constants.index_growth)


def watched_ranges(workload: Workload) -> int:
    """Return the number of watched keys or ranges: as in the workload, or else the number of watchers.

    Unit: keys or ranges
    Source: server/storage/mvcc/watcher_group.go
    """
    return workload.watchers if workload.watched_ranges is None else workload.watched_ranges


def watches(constants: Constants, workload: Workload) -> int:
    """Return the watch streams, the watchers on them, and the ranges that they watch.

    Unit: bytes
    Source: server/storage/mvcc/watcher_group.go
    """
    stream_bytes = workload.watch_streams * constants.watch_stream
    watcher_bytes = workload.watchers * constants.watcher
    return stream_bytes + watcher_bytes + watched_ranges(workload) * constants.watched_range


def connections(constants: Constants, workload: Workload) -> int:
    """Return the client connections, stacks included.

    Unit: bytes
    Source: measured, see the constants
    """
    return workload.clients * constants.connection_tls if workload.tls else workload.clients * constants.connection


def busy(constants: Constants, workload: Workload, members: int) -> int:
    """Return how busy the puts keep a member's log and database: rate × time of one put. At 1000 they are saturated.

    The leader sends each put to the other members too, so that the time of a put's bytes counts for each member.

    Unit: permille
    Source: measured, see the constants
    """
    sent = divide_up(put_size(workload) * members * constants.put_busy_mib, MIB)
    return min(divide_up(workload.puts_per_second * (constants.put_busy + sent), 1000), 1000)


def requests_in_flight(constants: Constants, workload: Workload, members: int) -> int:
    """Return the puts in flight in the cluster: rate × latency, the longer the busier it is, and at most one for each client.

    Unit: puts
    Source: Little's law, and the waiting time of a single queue; measured, see the constants
    """
    latency = constants.request_time + divide_up(put_size(workload) * constants.request_time_mib, MIB)
    idle = max(1000 - busy(constants, workload, members), 1)
    return min(workload.clients * members, divide_up(workload.puts_per_second * latency, idle))


def requests(constants: Constants, workload: Workload, members: int) -> int:
    """Return the puts in flight on one member: those of its own clients, and those that others forward to the leader.

    Unit: bytes
    Source: server/etcdserver/v3_server.go; raft forwards proposals
    """
    puts = requests_in_flight(constants, workload, members)
    own = divide_up(puts, members)
    forwarded = permille((puts - own) * put_size(workload), constants.request_forwarded)
    return permille(own * put_size(workload), constants.request_copies) + forwarded


def watch_events(constants: Constants, workload: Workload, members: int) -> int:
    """Return the events in flight to watchers: each stream marshals one event at a time.

    In the worst case the puts in flight are to different watched ranges. One event of each is part of the put.

    Unit: bytes
    Source: server/etcdserver/api/v3rpc/watch.go, sendLoop
    """
    ranges = max(watched_ranges(workload), 1)
    puts = min(requests_in_flight(constants, workload, members), ranges)
    events = min(puts * max(divide_up(workload.watchers, ranges) - 1, 0), workload.watch_streams)
    return events * put_size(workload)


def put_in_batch(constants: Constants, workload: Workload, db: Database) -> int:
    """Return the bytes of one put in the write batch: the mean of the put and of its share of the pages, and its overhead.

    Unit: bytes
    Source: server/storage/backend/tx_buffer.go
    """
    return divide_up(db.revision + put_size(workload), 2) + constants.put_overhead


def write_batch(constants: Constants, workload: Workload, db: Database) -> int:
    """Return the puts that are written to the database between two commits.

    Unit: bytes
    Source: server/storage/backend/batch_tx.go
    """
    written = workload.puts_per_second * put_in_batch(constants, workload, db)
    return permille(scale_up(written, constants.write_batch_period, 1000), constants.write_batch_copies)


def freelist(constants: Constants, db: Database) -> int:
    """Return bbolt's list of free pages: each page's id, and each span of them, which a large value leaves in one piece.

    Unit: bytes
    Source: go.etcd.io/bbolt, internal/freelist/hashmap.go
    """
    free = db.size - db.in_use
    spans = divide_up(free, max(constants.db_page, db.revision))
    return permille(free, constants.freelist) + spans * constants.freelist_span


def restore_waiting(constants: Constants, workload: Workload, revisions: int) -> int:
    """Return the revisions that a start has read but not yet indexed.

    The first chunk is indexed before the garbage collector runs. Of later chunks as many wait as were read, at most one chunk.

    Unit: bytes
    Source: server/storage/mvcc/kvstore.go, restoreIntoIndex
    """
    further = min(max(revisions - constants.restore_chunk, 0), constants.restore_further)
    waiting = divide_up(constants.restore_chunk * further, constants.restore_further)
    value = min(permille(workload.value_size, constants.restore_share), constants.restore_value)
    return waiting * (workload.key_size + constants.restore_pending + value)


def start_up(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return the memory that only a start needs, to rebuild the index and to replay the raft log.

    Unit: bytes
    Source: server/storage/mvcc/kvstore.go, restore
    """
    rebuilt = workload.keys * constants.restore_key + settings.snapshot_count * constants.restore_entry
    waiting = restore_waiting(constants, workload, workload.keys + db.history)
    return constants.restore_slack + rebuilt + waiting


def components(
    constants: Constants, workload: Workload, settings: Settings, members: int, db: Database, entries: int
) -> Components:
    """Return each component of a member with this number of entries in its raft log.

    Unit: bytes
    Source: the other formulas
    """
    return Components(
        base=constants.base_heap,
        raft_log=entries * raft_entry(constants, workload),
        peers=(members - 1) * constants.peer_connection,
        index=index(constants, workload, db.history),
        watches=watches(constants, workload),
        connections=connections(constants, workload),
        leases=workload.leases * constants.lease,
        requests=requests(constants, workload, members),
        write_batch=write_batch(constants, workload, db),
        freelist=freelist(constants, db),
        range_answers=permille(workload.range_size, constants.range_copies),
        watch_events=watch_events(constants, workload, members),
        start_up=start_up(constants, workload, settings, db),
    )


def heap_live(parts: Components) -> int:
    """Return the live heap at the peak: the components that are always present.

    Unit: bytes
    Source: the other formulas
    """
    stored = parts.raft_log + parts.index + parts.leases + parts.freelist
    traffic = parts.peers + parts.watches + parts.connections + parts.requests + parts.write_batch
    return parts.base + stored + traffic


def marking_garbage(constants: Constants, workload: Workload, index_size: int) -> int:
    """Return the garbage that outlives a collection, because puts allocated it while the collector marked the index.

    Marking takes time for each key, and each put during that time leaves garbage. Go limits it by starting a collection earlier.

    Unit: bytes
    Source: runtime/mgcpacer.go of Go; measured, see the constants
    """
    made = permille(workload.keys * workload.puts_per_second, constants.marking_garbage)
    bound = permille(index_size, constants.marking_garbage_max)
    return min(max(made - constants.marking_garbage_free, 0), bound)


def marking_puts(constants: Constants, workload: Workload) -> int:
    """Return the copies of puts that outlive a collection, because they were allocated while the collector marked.

    Unit: bytes
    Source: runtime/mgcpacer.go of Go; measured, see the constants
    """
    made = permille(workload.puts_per_second * put_size(workload), constants.marking_puts)
    return min(made, constants.marking_puts_max)


def free_heap_peak(settings: Settings, live: int, spikes: int) -> int:
    """Return the peak of the heap without GOMEMLIMIT: it grows by GOGC percent of the live heap before a collection.

    Unit: bytes
    Source: https://go.dev/doc/gc-guide
    """
    return live + scale_up(live, settings.gogc, 100) + spikes


def smallest_heap(constants: Constants, live: int, spikes: int) -> int:
    """Return the smallest heap that GOMEMLIMIT can enforce.

    Unit: bytes
    Source: measured, see the constants
    Releases: since 3.5.8
    """
    return permille(live + spikes, constants.gomemlimit_floor)


def heap_peak(constants: Constants, settings: Settings, live: int, spikes: int) -> int:
    """Return the peak of the heap, which GOMEMLIMIT reduces as far as the live heap allows.

    Unit: bytes
    Source: https://go.dev/doc/gc-guide
    Releases: GOMEMLIMIT since 3.5.8
    """
    free = free_heap_peak(settings, live, spikes)
    return (
        free
        if settings.gomemlimit is None
        else min(free, max(smallest_heap(constants, live, spikes), settings.gomemlimit))
    )


def anon_peak(constants: Constants, settings: Settings, live: int, spikes: int, over_heap: int) -> int:
    """Return the peak of RssAnon; over_heap is the RssAnon for each 1000 bytes of heap. GOMEMLIMIT counts all of it.

    Unit: bytes
    Source: https://go.dev/doc/gc-guide; measured, see the constants
    Releases: GOMEMLIMIT since 3.5.8
    """
    free = permille(free_heap_peak(settings, live, spikes), over_heap)
    return (
        free
        if settings.gomemlimit is None
        else min(free, max(permille(smallest_heap(constants, live, spikes), over_heap), settings.gomemlimit))
    )


def restart_write_batch(constants: Constants, workload: Workload, db: Database, batch: int) -> int:
    """Return the write batch while the replayed log is in memory, a short time that ends with the first applied entries.

    Unit: bytes
    Source: server/etcdserver/server.go, memorySnapshotCount; measured, see the constants
    """
    first = permille(constants.restart_puts * put_in_batch(constants, workload, db), constants.write_batch_copies)
    return min(batch, max(first, constants.restart_batch))


def restart_requests(constants: Constants, members: int, requests: int) -> int:
    """Return the waiting requests at the start of a single member; several members first elect a leader.

    Unit: bytes
    Source: measured, see the constants
    """
    return 0 if members > 1 else min(permille(requests, constants.restart_requests), constants.restart_requests_max)


def restart_heap_live(
    constants: Constants, workload: Workload, settings: Settings, members: int, db: Database, parts: Components
) -> int:
    """Return the live heap right after a restart, with the log since the last disk snapshot replayed into memory.

    Unit: bytes
    Source: server/etcdserver/bootstrap.go
    """
    steady = heap_live(parts) - parts.raft_log - parts.write_batch
    log = settings.snapshot_count * raft_entry(constants, workload)
    batch = restart_write_batch(constants, workload, db, parts.write_batch)
    return steady + log + batch + restart_requests(constants, members, parts.requests)


def restore_garbage(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return the garbage of a start, which reads every revision: what it allocates while the collector marks counts as live.

    Unit: bytes
    Source: server/storage/mvcc/kvstore.go, restore; runtime/mgcpacer.go of Go; measured, see the constants
    """
    read = permille((workload.keys + db.history) * put_size(workload), constants.restore_garbage)
    marking = constants.restore_garbage_floor + workload.value_size * constants.restore_garbage_values
    most = min(read, marking, constants.restore_garbage_max)
    return scale_up(most, max(settings.gogc, constants.restore_garbage_gogc), 100)


def restore_anon_peak(constants: Constants, workload: Workload, settings: Settings, db: Database, live: int) -> int:
    """Return the peak of RssAnon while a start reads the database, before clients connect. GOMEMLIMIT presses it down.

    Unit: bytes
    Source: measured, see the constants
    Releases: GOMEMLIMIT since 3.5.8
    """
    heap = 2 * constants.base_heap + restore_garbage(constants, workload, settings, db)
    free = permille(heap, constants.restart_anon_over_heap)
    return (
        free
        if settings.gomemlimit is None
        else min(free, max(permille(live, constants.gomemlimit_floor), settings.gomemlimit))
    )


def hot_pages(constants: Constants, settings: Settings, db: Database) -> int:
    """Return the pages of the database that must stay in memory, so that the member does not reread them all the time.

    Unit: bytes
    Source: estimate, see the constants
    """
    return (
        db.size
        if settings.memory_mlock
        else max(min(db.size, constants.hot_db_floor), permille(db.size, constants.hot_db))
    )


def mapped_file(constants: Constants, db: Database) -> int:
    """Return the mapped files: the database and etcd itself.

    Unit: bytes
    Source: measured, see the constants
    """
    return db.size + constants.binary_text


def kernel_memory(constants: Constants, workload: Workload, mapped: int) -> int:
    """Return the kernel's memory for the member: socket buffers and page tables.

    Unit: bytes
    Source: estimate, see the constants
    """
    return workload.clients * constants.kernel_connection + divide_up(mapped, constants.page_tables_divisor)


def memory_max(constants: Constants, size: int) -> int:
    """Return the MemoryMax, in whole MiB, whose MemoryHigh has room for this size.

    Unit: bytes
    Source: systemd.resource-control(5)
    """
    return divide_up(scale_up(size, 1000, constants.memory_high), MIB) * MIB


def required(constants: Constants, workload: Workload, settings: Settings, members: int, db: Database) -> Required:
    """Return the memory that a member needs while it runs and right after a restart, and the smallest MemoryMax for it.

    Unit: bytes
    Source: the other formulas
    """
    parts = components(constants, workload, settings, members, db, raft_entries(constants, settings))
    live = heap_live(parts)
    copies = marking_puts(constants, workload)
    marked = live + marking_garbage(constants, workload, parts.index) + copies
    answers = parts.range_answers + parts.watch_events
    running = anon_peak(constants, settings, marked, answers, constants.rss_anon_over_heap)
    restart_live = restart_heap_live(constants, workload, settings, members, db, parts)
    restart_marked = restart_live + copies
    restart = anon_peak(constants, settings, restart_marked, parts.start_up, constants.restart_anon_over_heap)
    peak = max(running, restart, restore_anon_peak(constants, workload, settings, db, restart_live))
    hot = hot_pages(constants, settings, db)
    kernel = kernel_memory(constants, workload, peak + mapped_file(constants, db))
    outside_go = hot + constants.binary_text + kernel
    return Required(
        components=parts,
        heap_live=live,
        restart_heap_live=restart_live,
        rss_anon_peak=running,
        restart_rss_anon_peak=peak,
        db_hot=hot,
        outside_go=outside_go,
        memory_max_least=memory_max(constants, peak + outside_go),
    )


def memory_max_recommended(constants: Constants, needed: Required, db: Database) -> int:
    """Return the MemoryMax with room for the whole database in the page cache.

    Unit: bytes
    Source: the other formulas
    """
    return memory_max(constants, needed.restart_rss_anon_peak + needed.outside_go - needed.db_hot + db.size)


def defrag_batch(constants: Constants, db: Database) -> int:
    """Return the bytes that one transaction of a defragmentation copies.

    Unit: bytes
    Source: server/storage/backend/backend.go, defragdb
    """
    return min(db.in_use, constants.defrag_chunk * db.revision)


def defragmentation(constants: Constants, db: Database) -> int:
    """Return the memory of a defragmentation in addition to the live heap, garbage included.

    Unit: bytes
    Source: measured, see the constants
    """
    return permille(defrag_batch(constants, db), constants.defrag_copies)


def defrag_anon_peak(constants: Constants, settings: Settings, needed: Required, low: int, high: int) -> int:
    """Return the peak of RssAnon during a defragmentation, which blocks writes; low and high bound its copies.

    GOMEMLIMIT can save only the garbage among the copies, which is the difference between the high and the low end.

    Unit: bytes
    Source: server/storage/backend/backend.go, defragdb
    Releases: GOMEMLIMIT since 3.5.8
    """
    free = needed.heap_live + high
    smallest = smallest_heap(constants, needed.heap_live, low)
    return (
        max(needed.rss_anon_peak, free)
        if settings.gomemlimit is None
        else max(needed.rss_anon_peak, min(free, max(settings.gomemlimit, smallest)))
    )


def file_peak(constants: Constants, settings: Settings, needed: Required, db: Database) -> int:
    """Return the peak of RssFile: in a cgroup the kernel drops mapped pages before the limit is reached.

    Unit: bytes
    Source: Documentation/admin-guide/cgroup-v2.rst of Linux
    """
    mapped = mapped_file(constants, db)
    return (
        mapped
        if settings.memory_max is None
        else min(mapped, max(settings.memory_max - needed.rss_anon_peak, constants.binary_text))
    )


def quota_with_margin(constants: Constants, margin: int, step: int, size: int, ceiling: int) -> int:
    """Return the quota for a database of this size: with a margin in permille, in whole steps, between etcd's default and a ceiling.

    Unit: bytes
    Source: the section plan of model/memory.yml
    """
    wanted = divide_up(permille(size, margin), step) * step
    return min(max(wanted, constants.quota_default), ceiling)
