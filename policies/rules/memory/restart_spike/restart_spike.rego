# METADATA
# title: A restart fits into the memory limit
# description: |
#   Since 3.6 snapshot-count no longer bounds memory in steady state, but a member that starts replays up to that many
#   entries of its WAL into memory at once. One that fits while it runs is then killed at each start, and never comes back
#   by itself.
# custom:
#   id: memory/restart_spike
#   severity: deny
#   with: [memory/snapshot_count]
#   fix: Lower snapshot-count, make values smaller or give more memory
#   source: etcdserver/server.go of 3.6 (memorySnapshotCount), and model/memory.yml
package headroom.rules.memory.restart_spike

import data.headroom.estimates
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/restart_spike", problems)

problems contains result.problem(profile, object.get(profile.etcd.names, "snapshot_count", profile.etcd.limit.name), text) if {
	some profile in estimates.profiles
	estimates.fails_only_at_restart(profile)
	settings := profile.estimate.settings
	settings.snapshot_count > settings.snapshot_catchup_entries
	text := sprintf("a restart replays up to %s entries (%s) of %s and needs %s, while running takes %s; the limit is %s (%s)%s", [
		units.format_count(settings.snapshot_count),
		object.get(profile.etcd.names, "snapshot_count", "snapshot-count"),
		units.format_size(profile.estimate.workload.value_size),
		units.format_size(profile.estimate.memory_max_least),
		units.format_size(profile.estimate.rss_anon_peak),
		units.format_size(profile.etcd.limit.bytes),
		profile.etcd.limit.name,
		estimates.assumptions(profile),
	])
}
