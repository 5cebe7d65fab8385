# METADATA
# title: The log covers a short absence of a follower
# description: |
#   The catch-up entries divided by the write rate are the time for which a follower may be away. Below half a minute,
#   a member needs the whole database after a mere restart.
# custom:
#   id: memory/catchup_below_writes
#   severity: warn
#   fix: Raise snapshot-catchup-entries, or let the plan choose it
#   fix_in_files: Raise snapshot-catchup-entries
#   source: etcd_memory_plan keeps 30 s of writes where they fit; https://etcd.io/docs/v3.6/tuning/#snapshot-tuning
package headroom.rules.memory.catchup_below_writes

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/catchup_below_writes", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	profile.members >= 3
	name := profile.etcd.names.snapshot_catchup_entries
	entries := units.parse_count(profile.etcd.settings.snapshot_catchup_entries)
	entries >= threshold.catchup_entries_min
	writes := units.parse_count(profile.etcd.workload.puts_per_second)
	entries < writes * threshold.catchup_seconds
	text := sprintf("%s is %s, which is %d s of writes at %s writes per second, under the minimum of %d s", [
		name,
		units.format_count(entries),
		floor(entries / writes),
		units.format_count(writes),
		threshold.catchup_seconds,
	])
}
