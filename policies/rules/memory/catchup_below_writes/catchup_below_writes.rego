# METADATA
# title: The log covers a short absence of a follower
# description: |
#   The catch-up entries are the time that a follower may be away, divided by the rate of writes. Below half a minute a
#   restart of a member is enough for it to be sent the whole database.
# custom:
#   id: memory/catchup_below_writes
#   severity: warn
#   fix: Raise snapshot-catchup-entries, or leave it to the plan
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
	text := sprintf("%s is %s, at %s writes a second %d s of them, under %d s", [
		name,
		units.format_count(entries),
		units.format_count(writes),
		floor(entries / writes),
		threshold.catchup_seconds,
	])
}
