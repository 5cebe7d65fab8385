# METADATA
# title: How much memory a member of etcd takes
# description: |
#   The formulas of plugins/module_utils/_model/estimate.py, to the byte: integers only, factors in parts per thousand, every division rounds
#   up. `figures(version, workload, settings, members)` gives the same numbers, as far as rules ask for them; it is undefined where
#   parse.rego's `problems` says why. Sizes may carry a unit.
package headroom.memory

import data.headroom.memory.parse
import data.headroom.model
import data.headroom.releases
import data.headroom.units

# A database without a quota is reckoned no larger than this: it keeps the figures finite.
no_quota := 1125899906842624

_mib := 1048576

# `parts`: component → the bytes that it may take.
figures(version, workload, settings, members) := {
	"series": series_name,
	"workload": work,
	"settings": effective,
	"parts": parts,
	"heap_live": live,
	"rss_anon_peak": running,
	"restart_rss_anon_peak": restarting,
	"beside_go": beside_go,
	"memory_max_least": units.divide_up(units.scale_up(restarting + beside_go, 1000, constants.memory_high), _mib) * _mib,
} if {
	count(parse.problems(version, workload, settings, members)) == 0
	series_name := releases.series(version)
	constants := model.constants[series_name]
	work := parse.workload(workload)
	effective := parse.settings(version, settings)
	db := _database(constants, work, effective)
	entries := _raft_entries(constants, effective)
	parts := _parts(constants, work, members, db, entries)

	live := sum([parts[name] | some name in heap])
	running := _anon_peak(constants, effective, live, parts["range answers"], constants.rss_anon_over_heap)

	quiet := (live - parts["raft log"]) - parts["write batch"]
	log_at_start := entries.restart * units.divide_down(parts["raft log"], entries.high)
	one_put := _batched(constants, db, work.key_size + work.value_size)
	first_load := _restart_batch(constants, parts["write batch"], one_put) + _first_requests(constants, members, parts.requests)
	restart_live := (quiet + log_at_start) + first_load
	replayed := _anon_peak(constants, effective, restart_live, parts["start-up"], constants.restart_anon_over_heap)
	restarting := max([running, replayed])

	mapped := db.size + constants.binary_text
	kernel := (work.clients * constants.kernel_connection) + units.divide_up(restarting + mapped, constants.page_tables_divisor)
	beside_go := (_hot(constants, effective, db.size) + constants.binary_text) + kernel
}

# Only the database of an estimate, at a fraction of its cost: db_size, db_in_use, and the index. Undefined for bad input.
database(version, workload, settings) := {
	"db_size": db.size,
	"db_in_use": db.in_use,
	"index": _index(constants, work, db.history),
} if {
	constants := model.constants[releases.series(version)]
	work := parse.workload(workload)
	db := _database(constants, work, parse.settings(version, settings))
}

_database(constants, work, settings) := {
	"revision": revision,
	"history": old,
	"in_use": in_use,
	"size": min([units.permille(in_use, constants.db_churn.high), limit]),
} if {
	element := (constants.db_revision_overhead + work.key_size) + work.value_size
	leaf := max([constants.db_leaf_min, units.divide_down(constants.db_leaf_fill, element)])
	pages := units.divide_up(constants.db_page_header + (leaf * element), constants.db_page)
	revision := units.divide_up(pages * constants.db_page, leaf)
	limit := _quota(constants, settings.quota_backend_bytes)
	live := work.keys * revision
	old := _history(constants, work, settings, units.divide_down(max([limit - live, 0]), revision))
	in_use := min([live + (old * revision), limit])
}

_quota(_, bytes) := bytes if bytes > 0

_quota(constants, 0) := constants.quota_default

_quota(_, bytes) := no_quota if bytes < 0

_history(_, work, _, room) := min([(work.revisions_per_key - 1) * work.keys, room]) if work.revisions_per_key != null

_history(constants, work, settings, room) := revisions if {
	work.revisions_per_key == null
	mode := settings.auto_compaction_mode
	amount := parse.retention_amount(mode, settings.auto_compaction_retention)
	revisions := _kept(constants, mode, amount, work.puts_per_second, room)
}

_kept(_, _, 0, writes, room) := room if writes > 0

_kept(_, _, 0, 0, _) := 0

_kept(constants, "revision", amount, writes, room) := min([revisions, room]) if {
	amount > 0
	revisions := amount + (writes * constants.compaction_revision_check)
}

_kept(constants, "periodic", amount, writes, room) := min([writes * seconds, room]) if {
	amount > 0
	amount <= constants.compaction_hour
	seconds := units.permille(amount, constants.compaction_periodic_peak)
}

_kept(constants, "periodic", amount, writes, room) := min([writes * seconds, room]) if {
	amount > constants.compaction_hour
	seconds := amount + constants.compaction_long_extra
}

_raft_entries(constants, settings) := {
	"low": settings.snapshot_catchup_entries,
	"high": (settings.snapshot_catchup_entries + _compacts_after(constants, settings)) + 1,
	"restart": settings.snapshot_count,
}

_compacts_after(constants, _) := constants.raft_compacts_every if constants.raft_compacts_every > 0

_compacts_after(constants, settings) := settings.snapshot_count if constants.raft_compacts_every == 0

# spikes: what comes on top of the live heap and its garbage. beyond: what the heap's pages take over its bytes, in parts per thousand.
_anon_peak(constants, settings, live, spikes, beyond) := free if {
	settings.gomemlimit == null
	free := _free_peak(settings, live, spikes, beyond)
} else := min([free, max([lowest, settings.gomemlimit])]) if {
	free := _free_peak(settings, live, spikes, beyond)
	lowest := units.permille(units.permille(live + spikes, constants.gomemlimit_floor), beyond)
}

_free_peak(settings, live, spikes, beyond) := units.permille((live + units.scale_up(live, settings.gogc, 100)) + spikes, beyond)

# What there is of the write batch while the replayed log is in memory, which first entries applied cut short.
_restart_batch(constants, batch, one_put) := min([batch, max([
	units.permille(constants.restart_puts * one_put, constants.write_batch_copies.high),
	constants.restart_batch,
])])

# Several members elect first, so that their load is not there at once.
_first_requests(_, members, _) := 0 if members > 1

_first_requests(constants, 1, requests) := min([
	units.permille(requests, constants.restart_requests),
	constants.restart_requests_max,
])

_hot(_, settings, size) := size if settings.memory_mlock

_hot(constants, settings, size) := max([
	min([size, constants.hot_db_floor]),
	units.permille(size, constants.hot_db),
]) if {
	not settings.memory_mlock
}
