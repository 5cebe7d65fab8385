# METADATA
# title: A restart fits within the memory limit
# description: |
#   Since 3.6, snapshot-count no longer bounds memory while etcd runs, but a starting member replays up to that many WAL
#   entries into memory at once. A member that fits while it runs can be killed at every start, and never recovers by
#   itself. In a file without any workload, the size of the values is assumed, and the finding is a warning.
# custom:
#   id: memory/restart_spike
#   severity: deny
#   with: [memory/snapshot_count]
#   fix: Lower snapshot-count, make values smaller, or give more memory
#   source: etcdserver/server.go of 3.6 (memorySnapshotCount), and model/memory.yml
package headroom.rules.memory.restart_spike

import data.headroom.estimates
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/restart_spike", problems)

warn contains finding if {
	estimates.assume_a_workload
	some finding in result.assumed("memory/restart_spike", problems)
}

problems contains problem if {
	some profile in estimates.profiles
	estimates.fails_only_at_restart(profile)
	settings := profile.estimate.settings
	shortage := estimates.shortage(profile)
	[required, limit] := units.format_sizes_distinctly(shortage.bytes, shortage.limit)
	text := sprintf("a restart replays up to %s entries (%s) of %s and needs %s, over the limit of %s (%s); running takes %s", [
		units.format_count(settings.snapshot_count),
		object.get(profile.etcd.names, "snapshot_count", "snapshot-count"),
		units.format_size(profile.estimate.workload.value_size),
		required,
		limit,
		shortage.name,
		units.format_size(profile.estimate.rss_anon_peak),
	])
	problem := result.based_on_estimate(profile, result.problem(profile, object.get(profile.etcd.names, "snapshot_count", shortage.name), text))
}
