package headroom.memory

import data.headroom.memory.units
import data.headroom.model

_components(constants, work, settings, members, db, entries) := [
	_row("base", "heap", _times(constants.base_heap, 1), "etcd itself, idle"),
	_row(
		"raft log", "heap",
		{
			"low": entries.low * (entry + constants.raft_entry_struct.low),
			"high": entries.high * (entry + constants.raft_entry_struct.high),
		},
		_log_why(constants, settings, entries, put),
	),
	_row(
		"peers", "heap", {"low": peers, "high": peers},
		sprintf("connections to %s other members", [units.format_count(members - 1)]),
	),
	_row(
		"index", "heap", _index(constants, work, db),
		sprintf("%s keys of %s, %s old versions", [
			units.format_count(work.keys),
			units.format_size(work.key_size),
			units.format_count(db.history),
		]),
	),
	_row(
		"watches", "heap",
		_plus(
			_times(constants.watch_stream, work.watch_streams),
			_plus(_times(constants.watcher, work.watchers), _times(constants.watched_range, apart)),
		),
		sprintf("%s watchers of %s ranges on %s streams", [
			units.format_count(work.watchers),
			units.format_count(apart),
			units.format_count(work.watch_streams),
		]),
	),
	_row(
		"connections", "heap", _times(_connection(constants, work), work.clients),
		sprintf("%s clients, %s", [units.format_count(work.clients), _transport(work)]),
	),
	_row(
		"leases", "heap", _times(constants.lease, work.leases),
		sprintf("%s leases", [units.format_count(work.leases)]),
	),
	_row(
		"requests", "heap", _share(constants.request_copies, flying * put),
		sprintf("%s puts of %s under way at once", [units.format_count(flying), units.format_size(put)]),
	),
	_row("write batch", "heap", _share(constants.write_batch_copies, batch), sprintf(
		"%s puts/s of %s, committed every %d ms",
		[units.format_count(work.puts_per_second), units.format_size(put), constants.write_batch_period],
	)),
	_row(
		"freelist", "heap",
		{
			"low": units.permille(db.low - db.in_use, constants.freelist.low),
			"high": units.permille(db.high - db.in_use, constants.freelist.high),
		},
		sprintf("up to %s of free pages in the database", [units.format_size(db.high - db.in_use)]),
	),
	_row(
		"range answers", "spike", _share(constants.range_copies, work.range_size),
		sprintf("%s of answers in flight", [units.format_size(work.range_size)]),
	),
	_row(
		"start-up", "restart", {"low": pending, "high": pending},
		sprintf("index rebuilt, %s revisions at a time", [units.format_count(chunk)]),
	),
	_row(
		"defragmentation", "defrag", _share(constants.defrag_copies, transaction),
		sprintf("one transaction copies %s", [units.format_size(transaction)]),
	),
	_row(
		"database file", "file", {"low": db.low, "high": db.high},
		sprintf("%s live and %s old revisions of %s", [
			units.format_count(work.keys),
			units.format_count(db.history),
			units.format_size(db.revision),
		]),
	),
] if {
	put := work.key_size + work.value_size
	entry := size_class(put + constants.raft_entry_overhead)
	peers := (members - 1) * constants.peer_connection
	batch := units.scale_up(
		work.puts_per_second * (db.revision + constants.put_overhead),
		constants.write_batch_period, 1000,
	)
	apart := _watched_ranges(work)
	flying := _requests_in_flight(constants, work, put)
	chunk := min([work.keys + db.history, constants.restore_chunk])
	indexed := (work.keys * constants.restore_key) + (entries.restart * constants.restore_entry)
	pending := (constants.restore_slack + indexed) + _waiting(constants, work, chunk)
	transaction := min([db.in_use, constants.defrag_chunk * db.revision])
}

_requests_in_flight(constants, work, put) := min([work.clients, count_in_time]) if {
	milliseconds := constants.request_time + units.divide_up(put * constants.request_time_mib, _mib)
	count_in_time := units.divide_up(work.puts_per_second * milliseconds, 1000)
}

# Less than a chunk is indexed before the collector runs.
_waiting(constants, work, chunk) := chunk * ((work.key_size + constants.restore_pending) + in_value) if {
	chunk == constants.restore_chunk
	in_value := min([work.value_size, constants.restore_value])
} else := 0

_watched_ranges(work) := work.watched_ranges if work.watched_ranges != null

_watched_ranges(work) := work.watchers if work.watched_ranges == null

_connection(constants, work) := constants.connection_tls if work.tls

_connection(constants, work) := constants.connection if not work.tls

_transport(work) := "TLS" if work.tls

_transport(work) := "plain" if not work.tls

_index(constants, work, db) := {
	"low": (work.keys * (per_key + constants.index_slot.low)) + units.permille(old, constants.index_growth.low),
	"high": (work.keys * (per_key + constants.index_slot.high)) + units.permille(old, constants.index_growth.high),
} if {
	per_key := (constants.index_key + size_class(work.key_size)) + constants.index_version
	old := db.history * constants.index_version
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

_row(name, kind, bounds, why) := {
	"name": name,
	"kind": kind,
	"low": bounds.low,
	"high": bounds.high,
	"why": why,
}

_times(value, number) := {"low": number * value.low, "high": number * value.high}

_share(value, bytes) := {"low": units.permille(bytes, value.low), "high": units.permille(bytes, value.high)}

_plus(left, right) := {"low": left.low + right.low, "high": left.high + right.high}

# METADATA
# description: What Go's allocator takes for an object of this size, its size class or whole pages.
size_class(bytes) := units.divide_up(bytes, model.go_page) * model.go_page if bytes > _largest_class

size_class(bytes) := min({class | some class in model.size_classes; class >= bytes}) if bytes <= _largest_class

_largest_class := max(model.size_classes)
