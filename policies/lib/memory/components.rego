package headroom.memory

import data.headroom.memory.units
import data.headroom.model

# The components in their order.
_components := [
	"base", "raft log", "peers", "index", "watches", "connections", "leases", "requests", "write batch", "freelist",
	"range answers", "start-up", "defragmentation", "database file",
]

# METADATA
# description: "Component → kind: heap (live all the time), spike (for a moment), restart (at start), defrag (meanwhile), file (mapped)."
kinds := object.union({name: "heap" | some name in _components}, {
	"range answers": "spike",
	"start-up": "restart",
	"defragmentation": "defrag",
	"database file": "file",
})

_heap := [name | some name in _components; kinds[name] == "heap"]

# Component → {low, high} in bytes.
_parts(constants, work, members, db, entries) := {
	"base": constants.base_heap,
	"raft log": {
		"low": entries.low * (entry + constants.raft_entry_struct.low),
		"high": entries.high * (entry + constants.raft_entry_struct.high),
	},
	"peers": {"low": peers, "high": peers},
	"index": _index(constants, work, db.history),
	"watches": _watches(constants, work),
	"connections": _times(_connection(constants, work.tls), work.clients),
	"leases": _times(constants.lease, work.leases),
	"requests": _share(constants.request_copies, _requests_in_flight(constants, work) * put),
	"write batch": _share(constants.write_batch_copies, batch),
	"freelist": {
		"low": units.permille(db.low - db.in_use, constants.freelist.low),
		"high": units.permille(db.high - db.in_use, constants.freelist.high),
	},
	"range answers": _share(constants.range_copies, work.range_size),
	"start-up": {"low": pending, "high": pending},
	"defragmentation": _share(constants.defrag_copies, _transaction(constants, db)),
	"database file": {"low": db.low, "high": db.high},
} if {
	put := work.key_size + work.value_size
	entry := size_class(put + constants.raft_entry_overhead)
	peers := (members - 1) * constants.peer_connection
	batch := units.scale_up(
		work.puts_per_second * _batched(constants, db, put),
		constants.write_batch_period, 1000,
	)
	indexed := (work.keys * constants.restore_key) + (entries.restart * constants.restore_entry)
	pending := (constants.restore_slack + indexed) + _waiting(constants, work, work.keys + db.history)
}

# Component → why it takes what it does.
_whys(constants, figures, db, entries) := {
	"base": "etcd itself, idle",
	"raft log": _log_why(constants, figures.settings, entries, put),
	"peers": sprintf("connections to %s other members", [units.format_count(figures.members - 1)]),
	"index": sprintf("%s keys of %s, %s old versions", [
		units.format_count(work.keys),
		units.format_size(work.key_size),
		units.format_count(db.history),
	]),
	"watches": sprintf("%s watchers of %s ranges on %s streams", [
		units.format_count(work.watchers),
		units.format_count(_watched_ranges(work)),
		units.format_count(work.watch_streams),
	]),
	"connections": sprintf("%s clients, %s", [units.format_count(work.clients), _transport(work.tls)]),
	"leases": sprintf("%s leases", [units.format_count(work.leases)]),
	"requests": sprintf("%s puts of %s under way at once", [units.format_count(flying), units.format_size(put)]),
	"write batch": sprintf(
		"%s puts/s of %s, committed every %d ms",
		[units.format_count(work.puts_per_second), units.format_size(put), constants.write_batch_period],
	),
	"freelist": sprintf("up to %s of free pages in the database", [units.format_size(db.high - db.in_use)]),
	"range answers": sprintf("%s of answers in flight", [units.format_size(work.range_size)]),
	"start-up": sprintf("index rebuilt, %s revisions at a time", [units.format_count(_chunk(constants, work, db))]),
	"defragmentation": sprintf("one transaction copies %s", [units.format_size(_transaction(constants, db))]),
	"database file": sprintf("%s live and %s old revisions of %s", [
		units.format_count(work.keys),
		units.format_count(db.history),
		units.format_size(db.revision),
	]),
} if {
	work := figures.workload
	put := work.key_size + work.value_size
	flying := _requests_in_flight(constants, work)
}

# One put in the write batch: half of it the put itself, half its place in the database's pages.
_batched(constants, db, put) := units.divide_up(db.revision + put, 2) + constants.put_overhead

_requests_in_flight(constants, work) := min([work.clients, count_in_time]) if {
	put := work.key_size + work.value_size
	milliseconds := constants.request_time + units.divide_up(put * constants.request_time_mib, _mib)
	count_in_time := units.divide_up(work.puts_per_second * milliseconds, 1000)
}

# The revisions that are read at a time when the index is rebuilt.
_chunk(constants, work, db) := min([work.keys + db.history, constants.restore_chunk])

# The first chunk is indexed before the collector runs; of the next ones as many wait as have been read, one chunk at most.
_waiting(constants, work, revisions) := count_waiting * ((work.key_size + constants.restore_pending) + in_value) if {
	further := min([max([revisions - constants.restore_chunk, 0]), constants.restore_further])
	count_waiting := units.divide_up(constants.restore_chunk * further, constants.restore_further)
	in_value := min([units.permille(work.value_size, constants.restore_share), constants.restore_value])
}

_transaction(constants, db) := min([db.in_use, constants.defrag_chunk * db.revision])

_watches(constants, work) := _plus(
	_times(constants.watch_stream, work.watch_streams),
	_plus(_times(constants.watcher, work.watchers), _times(constants.watched_range, _watched_ranges(work))),
)

_watched_ranges(work) := work.watched_ranges if work.watched_ranges != null

_watched_ranges(work) := work.watchers if work.watched_ranges == null

_connection(constants, true) := constants.connection_tls

_connection(constants, false) := constants.connection

_transport(true) := "TLS"

_transport(false) := "plain"

_index(constants, work, history) := {
	"low": (work.keys * (per_key + constants.index_slot.low)) + units.permille(old, constants.index_growth.low),
	"high": (work.keys * (per_key + constants.index_slot.high)) + units.permille(old, constants.index_growth.high),
} if {
	per_key := (constants.index_key + size_class(work.key_size)) + constants.index_version
	old := history * constants.index_version
}

_log_why(constants, settings, entries, put) := sprintf(
	"%s entries of %s, kept for slow followers: catch-up %s",
	[
		units.format_count(entries.high),
		units.format_size(put),
		units.format_count(settings.snapshot_catchup_entries),
	],
) if {
	constants.raft_compacts_every > 0
}

_log_why(constants, settings, entries, put) := sprintf(
	"%s to %s entries of %s: catch-up %s and up to snapshot-count %s more",
	[
		units.format_count(entries.low),
		units.format_count(entries.high),
		units.format_size(put),
		units.format_count(settings.snapshot_catchup_entries),
		units.format_count(settings.snapshot_count),
	],
) if {
	constants.raft_compacts_every == 0
}

_times(value, number) := {"low": number * value.low, "high": number * value.high}

_plus(left, right) := {"low": left.low + right.low, "high": left.high + right.high}

_share(value, bytes) := {"low": units.permille(bytes, value.low), "high": units.permille(bytes, value.high)}

# METADATA
# description: What Go's allocator takes for an object of this size, its size class or whole pages.
size_class(bytes) := units.divide_up(bytes, model.go_page) * model.go_page if bytes > _largest_class

size_class(bytes) := min({class | some class in model.size_classes; class >= bytes}) if bytes <= _largest_class

_largest_class := max(model.size_classes)
