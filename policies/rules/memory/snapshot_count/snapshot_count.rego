# METADATA
# title: The snapshot count suits the version and the values
# description: |
#   On 3.5 the snapshot count is the height of the raft log's sawtooth in memory. Since 3.6 it no longer bounds memory in
#   steady state, but a restart still replays up to that many entries into memory at once, and the WAL on disk grows with
#   it. etcd itself went from 100000 down to 10000 in 3.6. Where the workload is stated its values are counted, else the
#   number of entries alone.
# custom:
#   id: memory/snapshot_count
#   severity: warn
#   fix: Lower snapshot-count, or leave it to the plan
#   source: https://github.com/etcd-io/etcd/pull/18826
package headroom.rules.memory.snapshot_count

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.model
import data.headroom.releases
import data.headroom.result
import data.headroom.settings
import data.headroom.units

warn contains finding if some finding in result.findings("memory/snapshot_count", problems)

problems contains result.problem(profile, about, text) if {
	some profile in clusters.profiles
	[entries, about, origin] := _stated(profile)
	excess := _excess(profile, entries)
	text := sprintf("snapshot-count is %s (%s), %s: %s", [
		units.format_count(entries),
		origin,
		excess,
		_effect(releases.series(profile.etcd.version)),
	])
}

_stated(profile) := [units.parse_count(profile.etcd.settings.snapshot_count), name, name] if {
	name := profile.etcd.names.snapshot_count
} else := [entries, "etcd_version", sprintf("the default of %s", [series])] if {
	settings.is_unplanned(profile.etcd)
	settings.is_unset(profile.etcd, "snapshot_count")
	series := releases.series(profile.etcd.version)
	entries := model.settings.snapshot_count[series].default
}

_excess(profile, entries) := sprintf("with values of %s that is %s of log, more than %d %% of %s (%s)", [
	units.format_size(value),
	units.format_size(bytes),
	floor(threshold.raft_log_share_permille / 10),
	units.format_size(limit),
	profile.etcd.limit.name,
]) if {
	value := units.parse_size(profile.etcd.workload.value_size)
	limit := profile.etcd.limit.bytes
	bytes := entries * value
	bytes * 1000 > limit * threshold.raft_log_share_permille
}

_excess(profile, entries) := sprintf("over %s", [units.format_count(threshold.snapshot_count)]) if {
	not profile.etcd.workload.value_size
	entries > threshold.snapshot_count
}

_effect("3.5") := "so much piles up in memory before it is dropped"

_effect(series) := "a restart replays so much into memory" if series != "3.5"
