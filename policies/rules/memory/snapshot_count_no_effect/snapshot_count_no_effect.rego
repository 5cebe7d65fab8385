# METADATA
# title: Memory is saved with the right setting
# description: |
#   Up to 3.5, a lower snapshot-count saved memory, and most advice still says so. Since 3.6, only the catch-up entries
#   decide how long the log in memory is; snapshot-count only bounds what a restart replays, and the WAL on disk.
# custom:
#   id: memory/snapshot_count_no_effect
#   severity: warn
#   fix: Lower snapshot-catchup-entries instead, or set etcd_workload and let the plan choose both
#   fix_in_files: Lower snapshot-catchup-entries instead
#   source: https://github.com/etcd-io/etcd/pull/18826
package headroom.rules.memory.snapshot_count_no_effect

import data.headroom.clusters
import data.headroom.model
import data.headroom.releases
import data.headroom.result
import data.headroom.settings
import data.headroom.units

warn contains finding if some finding in result.findings("memory/snapshot_count_no_effect", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	series := releases.series(profile.etcd.release)
	model.constants[series].raft_compacts_every > 0
	name := profile.etcd.names.snapshot_count
	entries := units.parse_count(profile.etcd.settings.snapshot_count)
	entries > 0
	entries < model.settings.snapshot_count[series].default
	settings.is_unplanned(profile.etcd)
	settings.is_unset(profile.etcd, "snapshot_catchup_entries")
	text := sprintf("%s is %s, which saves no memory while etcd %s runs: it keeps %s entries for slow followers (snapshot-catchup-entries is not set)", [
		name,
		units.format_count(entries),
		profile.etcd.version,
		units.format_count(model.settings.snapshot_catchup_entries[series].default),
	])
}
