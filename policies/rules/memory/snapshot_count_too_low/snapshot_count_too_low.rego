# METADATA
# title: Snapshots are not taken all the time
# description: |
#   Every snapshot-count writes etcd makes a snapshot on disk: it serialises its state and syncs a file. Below some
#   hundred entries these are spikes of CPU and fsync many times a minute.
# custom:
#   id: memory/snapshot_count_too_low
#   severity: warn
#   fix: Raise snapshot-count, or leave it to the plan
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
	least := _least(releases.series(profile.etcd.version))
	entries < least
	text := sprintf("%s is %s, under %s: a snapshot each %s writes", [
		name,
		units.format_count(entries),
		units.format_count(least),
		units.format_count(entries),
	])
}

# On 3.5 a snapshot holds the v2 store too.
_least("3.5") := threshold.snapshot_count_min_3_5

_least(series) := threshold.snapshot_count_min if series != "3.5"
