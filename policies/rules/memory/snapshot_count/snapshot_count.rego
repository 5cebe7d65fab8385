# METADATA
# title: snapshot-count suits the release and the values
# description: |
#   On 3.5, up to snapshot-count entries of the raft log accumulate in memory. Since 3.6 it no longer bounds memory
#   while etcd runs, but a restart still replays up to that many entries at once, and the WAL on disk grows with it.
#   etcd itself lowered its default from 100000 to 10000 in 3.6. The rule counts bytes if the workload is set, and
#   entries otherwise.
# custom:
#   id: memory/snapshot_count
#   severity: warn
#   fix: Lower snapshot-count, or let the plan choose it
#   fix_in_files: Lower snapshot-count
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
		_effect(profile.etcd.release),
	])
}

_stated(profile) := [units.parse_count(profile.etcd.settings.snapshot_count), name, name] if {
	name := profile.etcd.names.snapshot_count
} else := [entries, "etcd_version", sprintf("the default of %s", [series])] if {
	settings.is_unplanned(profile.etcd)
	settings.is_unset(profile.etcd, "snapshot_count")
	series := releases.series(profile.etcd.release)
	entries := model.settings.snapshot_count[series].default
}

_excess(profile, entries) := sprintf("which with values of %s is %s of log, over %d %% of %s (%s)", [
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

_excess(profile, entries) := sprintf("over the limit of %s", [units.format_count(threshold.snapshot_count)]) if {
	not profile.etcd.workload.value_size
	entries > threshold.snapshot_count
}

_effect(release) := "that many entries accumulate in memory before etcd drops them" if {
	releases.series(release) == "3.5"
} else := "a restart replays that many entries into memory"
