# Generated from plugins/module_utils/_model/formulas by `make model`: change the files there.

# METADATA
# title: The formulas of the memory model
# description: |
#   The formulas that rules ask for, with the names that they have in Python. `constants` are those of a release's series, `workload` and
#   `settings` as headroom.memory.parse returns them.
package headroom.formulas

import data.headroom.arithmetic

mib := 1048576

microseconds := 1000000

no_quota := 1125899906842624

# Return the size of one put.
put_size(workload) := workload.key_size + workload.value_size

# Return the old revisions at the peak, just before a compaction; room is the number of revisions that the quota allows.
kept_revisions(constants, workload, settings, room) := (workload.revisions_per_key - 1) * workload.keys if {
	workload.revisions_per_key != null
} else := room if {
	settings.retention == 0
	workload.puts_per_second > 0
} else := 0 if {
	settings.retention == 0
} else := settings.retention + (workload.puts_per_second * constants.compaction_revision_check) if {
	settings.auto_compaction_mode == "revision"
} else := workload.puts_per_second * arithmetic.permille(settings.retention, constants.compaction_periodic_peak) if {
	settings.retention <= constants.compaction_hour
} else := workload.puts_per_second * (settings.retention + constants.compaction_long_extra)

# Return the largest database that the quota allows. A quota of 0 means etcd's default, a negative one no quota.
database_limit(constants, settings) := settings.quota_backend_bytes if {
	settings.quota_backend_bytes > 0
} else := constants.quota_default if {
	settings.quota_backend_bytes == 0
} else := no_quota

# Return the database file, from the number of revisions, and of revisions in each leaf of bbolt's tree.
database(constants, workload, settings) := {
	"revision": revision,
	"history": history,
	"live": live,
	"limit": limit,
	"in_use": in_use,
	"size": size,
} if {
	element := constants.db_revision_overhead + put_size(workload)
	leaf := max([constants.db_leaf_min, arithmetic.divide_down(constants.db_leaf_fill, element)])
	pages := arithmetic.divide_up(constants.db_page_header + (leaf * element), constants.db_page)
	revision := arithmetic.divide_up(pages * constants.db_page, leaf)
	limit := database_limit(constants, settings)
	live := workload.keys * revision
	room := arithmetic.divide_down(max([limit - live, 0]), revision)
	history := min([kept_revisions(constants, workload, settings, room), room])
	in_use := min([live + (history * revision), limit])
	size := min([arithmetic.permille(in_use, constants.db_churn), limit])
}

# Return the entries of the raft log in memory just before they are compacted.
raft_entries(constants, settings) := (settings.snapshot_catchup_entries + constants.raft_compacts_every) + 1 if {
	constants.raft_compacts_every > 0
} else := (settings.snapshot_catchup_entries + settings.snapshot_count) + 1

# Return the size of one put in the raft log.
raft_entry(constants, workload) := arithmetic.size_class(put_size(workload) + constants.raft_entry_overhead) + constants.raft_entry_struct

# Return the growth of the leader's raft log while a follower receives a snapshot and for a time after it: no compaction runs then.
raft_log_growth(constants, workload, settings, members, db) := written * raft_entry(constants, workload) if {
	constants.raft_compacts_every > 0
	seconds := arithmetic.divide_up(db.size, constants.snapshot_speed) + constants.snapshot_hold
	written := (min([members - 1, 1]) * workload.puts_per_second) * seconds
} else := (arithmetic.divide_up(written, max([settings.snapshot_count, 1])) * settings.snapshot_count) * raft_entry(constants, workload) if {
	seconds := arithmetic.divide_up(db.size, constants.snapshot_speed) + constants.snapshot_hold
	written := (min([members - 1, 1]) * workload.puts_per_second) * seconds
}

# Return the index: each key with its slot in the tree and its versions.
index(constants, workload, history) := (workload.keys * (key + constants.index_slot)) + arithmetic.permille(old, constants.index_growth) if {
	key := (constants.index_key + arithmetic.size_class(workload.key_size)) + constants.index_version
	old := history * constants.index_version
}

# Return the number of watched keys or ranges: as in the workload, or else the number of watchers.
watched_ranges(workload) := workload.watchers if {
	workload.watched_ranges == null
} else := workload.watched_ranges

# Return the size of one watch stream; with TLS etcd serves gRPC by another HTTP/2 server, which keeps more for each.
watch_stream(constants, workload) := constants.watch_stream_tls if {
	workload.tls
} else := constants.watch_stream

# Return the watch streams, the watchers on them, and the ranges that they watch.
watches(constants, workload) := (stream_bytes + watcher_bytes) + (watched_ranges(workload) * constants.watched_range) if {
	stream_bytes := workload.watch_streams * watch_stream(constants, workload)
	watcher_bytes := workload.watchers * constants.watcher
}

# Return the client connections, stacks included.
connections(constants, workload) := workload.clients * constants.connection_tls if {
	workload.tls
} else := workload.clients * constants.connection

# Return the clients of one member that put at once: as in the workload, or else all of them.
writers(workload) := workload.clients if {
	workload.writers == null
} else := workload.writers

# Return how busy the puts keep a member's log and database: rate × time of one put. At 1000 they are saturated.
busy(constants, workload, members) := min([arithmetic.divide_up(workload.puts_per_second * (constants.put_busy + sent), 1000), 1000]) if {
	sent := arithmetic.divide_up((put_size(workload) * members) * constants.put_busy_mib, mib)
}

# Return the puts in flight in the cluster: rate × latency, the longer the busier it is, and at most one for each client that puts.
requests_in_flight(constants, workload, members, rewritten) := min([writers(workload) * members, arithmetic.divide_up(workload.puts_per_second * latency, idle) + waiting]) if {
	latency := constants.request_time + arithmetic.divide_up(put_size(workload) * constants.request_time_mib, mib)
	idle := max([1000 - busy(constants, workload, members), 1])
	commit := arithmetic.scale_up(rewritten, constants.put_busy_mib, mib)
	waiting := arithmetic.scale_up(workload.puts_per_second, commit, microseconds)
}

# Return the puts in flight on one member: those of its own clients, and those of other members, which raft brings to each.
requests(constants, workload, members, rewritten) := (own * (arithmetic.permille(put_size(workload), constants.request_copies) + constants.request_overhead)) + forwarded if {
	puts := requests_in_flight(constants, workload, members, rewritten)
	own := arithmetic.divide_up(puts, members)
	forwarded := (puts - own) * arithmetic.permille(put_size(workload), constants.request_forwarded)
}

# Return the events in flight to watchers: each stream marshals one event at a time.
watch_events(constants, workload, members, rewritten) := events * put_size(workload) if {
	ranges := max([watched_ranges(workload), 1])
	puts := min([requests_in_flight(constants, workload, members, rewritten), ranges])
	events := min([puts * max([arithmetic.divide_up(workload.watchers, ranges) - 1, 0]), workload.watch_streams])
}

# Return the bytes of one put in the write batch: the mean of the put and of its share of the pages, and its overhead.
put_in_batch(constants, workload, db) := arithmetic.divide_up(db.revision + put_size(workload), 2) + constants.put_overhead

# Return the puts that are written to the database between two commits.
write_batch(constants, workload, db) := arithmetic.permille(arithmetic.scale_up(written, constants.write_batch_period, 1000), constants.write_batch_copies) if {
	written := workload.puts_per_second * put_in_batch(constants, workload, db)
}

# Return the revisions that one compaction by etcd deletes. Compactions that clients request, as Kubernetes does, are unknown.
deleted_revisions(constants, workload, settings, db) := 0 if {
	settings.retention == 0
} else := min([db.history, workload.puts_per_second * constants.compaction_revision_check]) if {
	settings.auto_compaction_mode == "revision"
} else := min([db.history, workload.puts_per_second * min([settings.retention, constants.compaction_hour])])

# Return the pages of kept revisions that bbolt writes again in one commit of a compaction, because they share a leaf with a deleted one.
rewritten_pages(constants, workload, settings, db) := arithmetic.permille(kept, constants.compaction_rewritten) if {
	deleted := deleted_revisions(constants, workload, settings, db)
	beside := min([deleted, workload.keys, constants.compaction_revisions])
	pairs := arithmetic.divide_down(min([deleted + workload.keys, constants.compaction_revisions]), constants.db_leaf_min)
	large := min([beside, arithmetic.divide_down(pairs, constants.db_leaf_min)]) * db.revision
	kept := max([large, beside * min([db.revision, constants.db_page])])
}

# Return what a compaction needs in one commit: the kept revisions that bbolt writes again, and the map of all kept revisions.
compaction_batch(constants, workload, settings, db) := rewritten_pages(constants, workload, settings, db) + kept_map if {
	deleted := deleted_revisions(constants, workload, settings, db)
	kept_map := (min([deleted, 1]) * workload.keys) * constants.compaction_key
}

# Return what the largest commit holds: the puts of one period, or what a compaction needs and the puts since the last commit.
largest_commit(constants, workload, settings, db) := max([batch, compaction_batch(constants, workload, settings, db) + arithmetic.permille(batch, constants.compaction_puts)]) if {
	batch := write_batch(constants, workload, db)
}

# Return bbolt's list of free pages: each page's id, and each span of them, which a large value leaves in one piece.
freelist(constants, db) := arithmetic.permille(free, constants.freelist) + (spans * constants.freelist_span) if {
	free := db.size - db.in_use
	spans := arithmetic.divide_up(free, max([constants.db_page, db.revision]))
}

# Return how many revisions a start has read but not yet indexed.
waiting_revisions(constants, revisions) := arithmetic.divide_up(constants.restore_chunk * further, constants.restore_further) if {
	further := min([max([revisions - constants.restore_chunk, 0]), constants.restore_further])
}

# Return the revisions that wait to be indexed, if each key was written again in the same order.
restore_waiting(constants, workload, revisions) := waiting_revisions(constants, revisions) * ((workload.key_size + constants.restore_pending) + value) if {
	value := min([arithmetic.permille(workload.value_size, constants.restore_share), constants.restore_value])
}

# Return the memory that only a start needs, to rebuild the index and to replay the raft log.
start_up(constants, workload, settings, db) := (constants.restore_slack + rebuilt) + waiting if {
	rebuilt := (workload.keys * constants.restore_key) + (settings.snapshot_count * constants.restore_entry)
	waiting := restore_waiting(constants, workload, workload.keys + db.history)
}

# Return each component of a member with this number of entries in its raft log.
components(constants, workload, settings, members, db, entries) := {
	"base": constants.base_heap,
	"raft_log": entries * raft_entry(constants, workload),
	"peers": (members - 1) * constants.peer_connection,
	"index": index(constants, workload, db.history),
	"watches": watches(constants, workload),
	"connections": connections(constants, workload),
	"leases": workload.leases * constants.lease,
	"requests": requests(constants, workload, members, rewritten),
	"write_batch": largest_commit(constants, workload, settings, db),
	"freelist": freelist(constants, db),
	"range_answers": arithmetic.permille(workload.range_size, constants.range_copies),
	"watch_events": watch_events(constants, workload, members, rewritten),
	"start_up": start_up(constants, workload, settings, db),
} if {
	rewritten := rewritten_pages(constants, workload, settings, db)
}

# Return the live heap at the peak: the components that are always present.
heap_live(parts) := (parts.base + stored) + traffic if {
	stored := ((parts.raft_log + parts.index) + parts.leases) + parts.freelist
	traffic := (((parts.peers + parts.watches) + parts.connections) + parts.requests) + parts.write_batch
}

# Return the garbage that outlives a collection, because puts allocated it while the collector marked the index.
marking_garbage(constants, workload, index_size) := min([max([made - constants.marking_garbage_free, 0]), bound]) if {
	made := arithmetic.permille((workload.keys + constants.marking_garbage_keys) * workload.puts_per_second, constants.marking_garbage)
	bound := arithmetic.permille(index_size, constants.marking_garbage_max)
}

# Return the copies of puts that outlive a collection, because they were allocated while the collector marked.
marking_puts(constants, workload) := min([made, constants.marking_puts_max]) if {
	made := arithmetic.permille(workload.puts_per_second * put_size(workload), constants.marking_puts)
}

# Return the peak of the heap without GOMEMLIMIT: it grows by GOGC percent of the live heap before a collection.
free_heap_peak(settings, live, spikes) := (live + arithmetic.scale_up(live, settings.gogc, 100)) + spikes

# Return the smallest heap that GOMEMLIMIT can enforce.
smallest_heap(constants, live, spikes) := arithmetic.permille(live + spikes, constants.gomemlimit_floor)

# Return the peak of RssAnon; over_heap is the RssAnon for each 1000 bytes of heap. GOMEMLIMIT counts all of it.
anon_peak(constants, settings, live, spikes, over_heap) := free if {
	settings.gomemlimit == null
	free := arithmetic.permille(free_heap_peak(settings, live, spikes), over_heap) + constants.base_outside
} else := min([free, max([arithmetic.permille(smallest_heap(constants, live, spikes), over_heap) + constants.base_outside, settings.gomemlimit - constants.gomemlimit_untouched])]) if {
	free := arithmetic.permille(free_heap_peak(settings, live, spikes), over_heap) + constants.base_outside
}

# Return the write batch while the replayed log is in memory, a short time that ends with the first applied entries.
restart_write_batch(constants, workload, db, batch) := min([batch, max([first, constants.restart_batch])]) if {
	first := arithmetic.permille(constants.restart_puts * put_in_batch(constants, workload, db), constants.write_batch_copies)
}

# Return the waiting requests at the start of a single member; several members first elect a leader.
restart_requests(constants, members, waiting) := 0 if {
	members > 1
} else := min([arithmetic.permille(waiting, constants.restart_requests), constants.restart_requests_max])

# Return the live heap right after a restart, with the log since the last disk snapshot replayed into memory.
restart_heap_live(constants, workload, settings, members, db, parts) := (((steady + log) + batch) + waiting) + restart_requests(constants, members, waiting) if {
	steady := ((heap_live(parts) - parts.raft_log) - parts.write_batch) - parts.requests
	log := settings.snapshot_count * raft_entry(constants, workload)
	batch := restart_write_batch(constants, workload, db, parts.write_batch)
	waiting := requests(constants, workload, members, 0)
}

# Return the garbage of a start, which reads every revision: what it allocates while the collector marks counts as live.
restore_garbage(constants, workload, settings, db) := arithmetic.scale_up(most, share, 100) if {
	read := arithmetic.permille((workload.keys + db.history) * put_size(workload), constants.restore_garbage)
	marking := constants.restore_garbage_floor + (workload.value_size * constants.restore_garbage_values)
	most := min([read, marking, constants.restore_garbage_max])
	share := min([max([settings.gogc, constants.restore_garbage_gogc]), arithmetic.divide_up(settings.gogc + 100, 2)])
}

# Return the revisions that wait to be indexed, if keys were written in random order, which takes longer to index, as do long keys.
restore_queue(constants, workload, db) := arithmetic.scale_up(queue, min([uncached, workload.keys]), workload.keys) if {
	size := min([put_size(workload) + constants.restore_pending, constants.restore_queue_size])
	waiting := waiting_revisions(constants, workload.keys + db.history)
	uncached := arithmetic.permille(max([workload.keys - constants.restore_chunk, 0]), constants.restore_uncached)
	queue := arithmetic.permille(waiting * size, constants.restore_queue + (workload.key_size * constants.restore_queue_key))
}

# Return the heap at the end of a start's reading, when the index is complete and the last revisions still wait.
restore_indexing(constants, workload, settings, db) := arithmetic.scale_up(live, settings.gogc + 100, 100) if {
	live := index(constants, workload, db.history) + restore_queue(constants, workload, db)
}

# Return the peak of RssAnon while a start reads the database, before clients connect. GOMEMLIMIT presses it down.
restore_anon_peak(constants, workload, settings, db, live) := free if {
	settings.gomemlimit == null
	log := settings.snapshot_count * raft_entry(constants, workload)
	read := max([restore_garbage(constants, workload, settings, db), restore_indexing(constants, workload, settings, db)])
	heap := ((2 * constants.base_heap) + log) + read
	free := arithmetic.permille(heap, constants.restart_anon_over_heap) + constants.base_outside
} else := min([free, max([arithmetic.permille(live, constants.gomemlimit_floor), settings.gomemlimit])]) if {
	log := settings.snapshot_count * raft_entry(constants, workload)
	read := max([restore_garbage(constants, workload, settings, db), restore_indexing(constants, workload, settings, db)])
	heap := ((2 * constants.base_heap) + log) + read
	free := arithmetic.permille(heap, constants.restart_anon_over_heap) + constants.base_outside
}

# Return the pages of the database that must stay in memory, so that the member does not reread them all the time.
hot_pages(constants, settings, db) := db.size if {
	settings.memory_mlock
} else := max([min([db.size, constants.hot_db_floor]), arithmetic.permille(db.size, constants.hot_db)])

# Return the mapped files: the database and etcd itself.
mapped_file(constants, db) := db.size + constants.binary_text

# Return the kernel's memory for the member: socket buffers and page tables.
kernel_memory(constants, workload, mapped) := (workload.clients * constants.kernel_connection) + arithmetic.divide_up(mapped, constants.page_tables_divisor)

# Return the MemoryMax, in whole MiB, whose MemoryHigh has room for this size.
memory_max(constants, size) := arithmetic.divide_up(arithmetic.scale_up(size, 1000, constants.memory_high), mib) * mib

# Return the part of the buffers to and from peers that no message reaches: Go counts it as heap, the kernel does not.
untouched_buffers(constants, workload, members) := ((members - 1) * constants.peer_buffers) * max([constants.peer_buffer - put_size(workload), 0])

# Return the queues to and from peers that a start has not filled when its garbage peaks: messages go round in them.
untouched_queues(constants, members) := (members - 1) * constants.peer_queues

# Return the memory that a member needs while it runs, right after a restart and as a leader that sends a snapshot, and its smallest MemoryMax.
required(constants, workload, settings, members, db) := {
	"components": parts,
	"heap_live": live,
	"restart_heap_live": restart_live,
	"rss_anon_peak": running,
	"restart_rss_anon_peak": peak,
	"follower_snapshot_rss_anon_peak": leader,
	"db_hot": hot,
	"outside_go": outside_go,
	"memory_max_least": memory_max(constants, peak + outside_go),
} if {
	parts := components(constants, workload, settings, members, db, raft_entries(constants, settings))
	live := heap_live(parts)
	copies := marking_puts(constants, workload)
	marked := (live + marking_garbage(constants, workload, parts.index)) + copies
	answers := parts.range_answers + parts.watch_events
	untouched := untouched_buffers(constants, workload, members)
	running := anon_peak(constants, settings, marked, answers, constants.rss_anon_over_heap) - untouched
	grown := marked + raft_log_growth(constants, workload, settings, members, db)
	leader := anon_peak(constants, settings, grown, answers, constants.rss_anon_over_heap) - untouched
	restart_live := restart_heap_live(constants, workload, settings, members, db, parts)
	restart_marked := restart_live + copies
	restart := anon_peak(constants, settings, restart_marked, parts.start_up, constants.restart_anon_over_heap)
	started := (restart - untouched) - untouched_queues(constants, members)
	peak := max([running, started, restore_anon_peak(constants, workload, settings, db, max([live, restart_live]))])
	hot := hot_pages(constants, settings, db)
	kernel := kernel_memory(constants, workload, peak + mapped_file(constants, db))
	outside_go := (hot + constants.binary_text) + kernel
}

# Return the MemoryMax that a leader needs while a follower receives a snapshot.
memory_max_with_snapshot(constants, needed) := memory_max(constants, needed.follower_snapshot_rss_anon_peak + needed.outside_go)

# Return the quota for a database of this size: with a margin in permille, in whole steps, between etcd's default and a ceiling.
quota_with_margin(constants, margin, step, size, ceiling) := min([max([wanted, constants.quota_default]), ceiling]) if {
	wanted := arithmetic.divide_up(arithmetic.permille(size, margin), step) * step
}
