# METADATA
# title: The raft log leaves memory for the rest
# description: |
#   Every member holds the raft log in memory, in full: up to the catch-up entries on 3.6 and later, and up to
#   snapshot-count more on 3.5, where it rises and falls like a sawtooth. With large values it outgrows everything else,
#   and Go's heap may be twice its live data.
# custom:
#   id: memory/raft_log_share
#   severity: deny
#   fix: Lower snapshot-catchup-entries (and on 3.5 snapshot-count), make values smaller, or give more memory
#   source: https://github.com/etcd-io/etcd/issues/13889, and model/memory.yml for the rule of each version
package headroom.rules.memory.raft_log_share

import data.headroom.effective_thresholds.threshold
import data.headroom.estimates
import data.headroom.memory
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/raft_log_share", problems)

problems contains result.with_assumption(result.problem(profile, _about(profile.etcd), text), estimates.assumption(profile)) if {
	some profile in estimates.profiles

	# Without a workload, the size of the values would be a guess.
	count(profile.etcd.workload) > 0
	bytes := profile.estimate.components.raft_log
	limit := profile.etcd.limit.bytes
	bytes * 1000 > limit * threshold.raft_log_share_permille
	text := sprintf("the raft log takes up to %s (%s) of %s (%s), over the limit of %d %%", [
		units.format_size(bytes),
		memory.raft_log_reason(profile.estimate),
		units.format_size(limit),
		profile.etcd.limit.name,
		floor(threshold.raft_log_share_permille / 10),
	])
}

# The pinned setting that decides most.
_about(etcd) := stated[0] if {
	stated := [etcd.names[setting] | some setting in ["snapshot_catchup_entries", "snapshot_count"]; etcd.names[setting]]
	count(stated) > 0
} else := "etcd_workload"
