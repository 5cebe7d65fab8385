package headroom.memory

import data.headroom.model
import data.headroom.units

# The components that live all the time. Those of `spikes` come for a moment.
heap := {"base", "raft log", "peers", "index", "watches", "connections", "leases", "requests", "write batch", "freelist"}

# See `heap`.
spikes := {"range answers"}

# Component → the bytes that it may take. "start-up" is there only while the member starts.
_parts(constants, work, members, db, entries) := {
	"base": constants.base_heap.high,
	"raft log": entries.high * (entry + constants.raft_entry_struct.high),
	"peers": (members - 1) * constants.peer_connection,
	"index": _index(constants, work, db.history),
	"watches": watches(constants, work),
	"connections": connections(constants, work),
	"leases": work.leases * constants.lease.high,
	"requests": units.permille(_requests_in_flight(constants, work) * put, constants.request_copies.high),
	"write batch": units.permille(batch, constants.write_batch_copies.high),
	"freelist": units.permille(db.size - db.in_use, constants.freelist.high),
	"range answers": units.permille(work.range_size, constants.range_copies.high),
	"start-up": (constants.restore_slack + indexed) + _waiting(constants, work, work.keys + db.history),
} if {
	put := work.key_size + work.value_size
	entry := size_class(put + constants.raft_entry_overhead)
	batch := units.scale_up(
		work.puts_per_second * _batched(constants, db, put),
		constants.write_batch_period, 1000,
	)
	indexed := (work.keys * constants.restore_key) + (entries.restart * constants.restore_entry)
}

# One put in the write batch: half of it the put itself, half its place in the database's pages.
_batched(constants, db, put) := units.divide_up(db.revision + put, 2) + constants.put_overhead

_requests_in_flight(constants, work) := min([work.clients, count_in_time]) if {
	put := work.key_size + work.value_size
	milliseconds := constants.request_time + units.divide_up(put * constants.request_time_mib, _mib)
	count_in_time := units.divide_up(work.puts_per_second * milliseconds, 1000)
}

# The first chunk is indexed before the collector runs; of the next ones as many wait as have been read, one chunk at most.
_waiting(constants, work, revisions) := count_waiting * ((work.key_size + constants.restore_pending) + in_value) if {
	further := min([max([revisions - constants.restore_chunk, 0]), constants.restore_further])
	count_waiting := units.divide_up(constants.restore_chunk * further, constants.restore_further)
	in_value := min([units.permille(work.value_size, constants.restore_share), constants.restore_value])
}

watches(constants, work) := ((work.watch_streams * constants.watch_stream.high) + (work.watchers * constants.watcher.high)) + ranges if {
	ranges := _watched_ranges(work) * constants.watched_range.high
}

connections(constants, work) := work.clients * {true: constants.connection_tls, false: constants.connection}[work.tls].high

_watched_ranges(work) := work.watched_ranges if work.watched_ranges != null

_watched_ranges(work) := work.watchers if work.watched_ranges == null

_index(constants, work, history) := (work.keys * (per_key + constants.index_slot.high)) + units.permille(old, constants.index_growth.high) if {
	per_key := (constants.index_key + size_class(work.key_size)) + constants.index_version
	old := history * constants.index_version
}

# What the raft log holds, and why.
log_why(figures) := sprintf("%s entries of %s, kept for slow followers: catch-up %s", [
	units.format_count(entries.high),
	units.format_size(figures.workload.key_size + figures.workload.value_size),
	units.format_count(figures.settings.snapshot_catchup_entries),
]) if {
	constants := model.constants[figures.series]
	constants.raft_compacts_every > 0
	entries := _raft_entries(constants, figures.settings)
} else := sprintf("%s to %s entries of %s: catch-up %s and up to snapshot-count %s more", [
	units.format_count(entries.low),
	units.format_count(entries.high),
	units.format_size(figures.workload.key_size + figures.workload.value_size),
	units.format_count(figures.settings.snapshot_catchup_entries),
	units.format_count(figures.settings.snapshot_count),
]) if {
	entries := _raft_entries(model.constants[figures.series], figures.settings)
}

# What Go's allocator takes for an object of this size, its size class or whole pages.
size_class(bytes) := units.divide_up(bytes, model.go_page) * model.go_page if bytes > _largest_class

size_class(bytes) := min({class | some class in model.size_classes; class >= bytes}) if bytes <= _largest_class

_largest_class := max(model.size_classes)
