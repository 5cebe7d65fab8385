# METADATA
# title: Snapshots are not taken too often
# description: |
#   etcd writes a snapshot to disk every snapshot-count writes: it serialises its state and syncs a file. Below a few
#   hundred entries, that causes spikes of CPU and fsync many times a minute.
# custom:
#   id: memory/snapshot_count_too_low
#   severity: warn
#   fix: Raise snapshot-count, or let the plan choose it
#   fix_in_files: Raise snapshot-count
#   source: the floors of etcd_memory_plan; https://etcd.io/docs/v3.6/tuning/#snapshot-tuning
package headroom.rules.memory.snapshot_count_too_low

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.releases
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/snapshot_count_too_low", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	name := profile.etcd.names.snapshot_count
	entries := units.parse_count(profile.etcd.settings.snapshot_count)
	entries > 0
	minimum := _minimum(profile.etcd.release)
	entries < minimum
	text := sprintf("%s is %s, under the minimum of %s: etcd takes a snapshot every %s writes", [
		name,
		units.format_count(entries),
		units.format_count(minimum),
		units.format_count(entries),
	])
}

# On 3.5 a snapshot also holds the v2 store. An unknown release has the lower minimum.
_minimum(release) := threshold.snapshot_count_min_3_5 if {
	releases.series(release) == "3.5"
} else := threshold.snapshot_count_min
