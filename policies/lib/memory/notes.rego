package headroom.memory

import data.headroom.memory.reading
import data.headroom.memory.units

# METADATA
# description: What a person should know beside the figures, in a fixed order.
_notes(constants, figures, db, entries, one_entry) := [text |
	some text in [
		_replay_note(constants, figures, entries),
		_snapshot_note(constants, figures, one_entry),
		_compaction_note(figures, db),
		_quota_note(db),
		_gomemlimit_note(constants, figures),
		_mlock_note(figures),
		_defrag_note(figures),
		_limit_note(figures),
	]
	text != ""
]

_replay_note(constants, figures, entries) := sprintf(
	concat("", [
		"right after a restart up to %s entries are replayed into memory, ",
		"RssAnon %s: snapshot-count governs this, not the steady state",
	]),
	[units.format_count(entries.restart), units.format_size(figures.restart_rss_anon_peak)],
) if {
	constants.raft_compacts_every > 0
	entries.restart > entries.high
} else := ""

_snapshot_note(constants, figures, one_entry) := sprintf(
	"while a follower is sent a snapshot the raft log is not compacted: %s more %s",
	[units.format_size(grown.entries * one_entry), grown.when],
) if {
	figures.members > 1
	figures.workload.puts_per_second > 0
	grown := _grown(constants, figures)
} else := ""

_grown(constants, figures) := {
	"entries": 30 * figures.workload.puts_per_second,
	"when": "for each 30 s",
} if {
	constants.raft_compacts_every > 0
}

_grown(constants, figures) := {
	"entries": figures.settings.snapshot_count,
	"when": "for each compaction that is skipped",
} if {
	constants.raft_compacts_every == 0
}

_compaction_note(figures, db) := sprintf(
	"compaction is off: history grows until the quota of %s stops all writes",
	[units.format_size(db.limit)],
) if {
	_uncompacted(figures)
	figures.settings.quota_backend_bytes >= 0
} else := "compaction is off and there is no quota: the database grows without a bound" if {
	_uncompacted(figures)
} else := ""

_uncompacted(figures) if {
	settings := figures.settings
	reading.retention_amount(settings.auto_compaction_mode, settings.auto_compaction_retention) == 0
	figures.workload.revisions_per_key == null
	figures.workload.puts_per_second > 0
}

_quota_note(db) := sprintf(
	"the live keys alone take %s, more than the quota of %s: etcd will stop taking writes",
	[units.format_size(db.live), units.format_size(db.limit)],
) if {
	db.live > db.limit
} else := ""

_gomemlimit_note(constants, figures) := sprintf(
	"GOMEMLIMIT %s is below what the live heap of %s needs: Go would collect garbage without pause",
	[units.format_size(figures.settings.gomemlimit), units.format_size(figures.heap_live)],
) if {
	figures.settings.gomemlimit != null
	figures.settings.gomemlimit < units.permille(figures.heap_live, constants.gomemlimit_floor)
} else := ""

_mlock_note(figures) := "memory_mlock keeps the whole database in memory: it counts in full" if {
	figures.settings.memory_mlock
} else := ""

_defrag_note(figures) := sprintf(
	"a defragmentation needs %s for a moment, more than a MemoryMax of %s: raise the limit while it runs",
	[units.format_size(figures.defrag_rss_anon_peak), units.format_size(_bound(figures))],
) if {
	figures.defrag_rss_anon_peak > _bound(figures)
} else := ""

_bound(figures) := figures.settings.memory_max if figures.settings.memory_max != null

_bound(figures) := figures.memory_max_recommended if figures.settings.memory_max == null

_limit_note(figures) := sprintf(
	"MemoryMax %s is below the %s that the member needs at least",
	[units.format_size(figures.settings.memory_max), units.format_size(figures.memory_max_least)],
) if {
	figures.settings.memory_max != null
	figures.settings.memory_max < figures.memory_max_least
} else := sprintf(
	concat("", [
		"MemoryMax %s does not hold the whole database of up to %s beside the peak: what is dropped is read from the disk again, ",
		"above all by compaction and at a start; %s would hold it",
	]),
	[
		units.format_size(figures.settings.memory_max),
		units.format_size(figures.db_size),
		units.format_size(figures.memory_max_recommended),
	],
) if {
	figures.settings.memory_max != null
	figures.settings.memory_max < figures.memory_max_recommended
} else := ""
