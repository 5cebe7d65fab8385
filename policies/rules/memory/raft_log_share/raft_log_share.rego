# METADATA
# title: The raft log leaves memory for the rest
# description: |
#   Every member holds the raft log in memory, in full: up to the catch-up entries on 3.6 and later, and up to
#   snapshot-count more on 3.5, where it rises and falls like a sawtooth. With large values it outgrows everything else,
#   and Go's heap may be twice its live data. A plan limits the heap, so the rule denies only settings with which the log is
#   longer than in the smallest plan. On a running member, whose workload is only measured, the finding is a warning.
# custom:
#   id: memory/raft_log_share
#   severity: deny
#   fix: Lower snapshot-catchup-entries (and on 3.5 snapshot-count), make values smaller, or give more memory
#   source: https://github.com/etcd-io/etcd/issues/13889, and model/memory.yml for the rule of each version
package headroom.rules.memory.raft_log_share

import data.headroom.effective_thresholds.threshold
import data.headroom.estimates
import data.headroom.memory
import data.headroom.minimal_plan
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/raft_log_share", problems)

warn contains finding if some finding in result.assumed("memory/raft_log_share", problems)

problems contains problem if {
	some profile in estimates.profiles

	# Without a workload, the size of the values would be a guess.
	count(profile.etcd.workload) > 0
	bytes := profile.estimate.components.raft_log
	limit := profile.etcd.limit.bytes
	bytes * 1000 > limit * threshold.raft_log_share_permille
	_can_shrink(profile)
	text := sprintf("the raft log takes up to %s (%s) of %s (%s), over the limit of %d %%", [
		units.format_size(bytes),
		memory.raft_log_reason(profile.estimate),
		units.format_size(limit),
		profile.etcd.limit.name,
		floor(threshold.raft_log_share_permille / 10),
	])
	problem := _with_basis(profile, result.problem(profile, _about(profile.etcd), text))
}

_with_basis(profile, problem) := result.warning_with_assumption(problem, estimates.assumption(profile)) if {
	estimates.measures_workload(profile)
} else := result.with_assumption(problem, estimates.assumption(profile))

_can_shrink(profile) if not profile.etcd.planned

_can_shrink(profile) if {
	profile.etcd.planned
	etcd := profile.etcd
	free := object.remove(estimates.model_settings(etcd.settings), {"snapshot_catchup_entries", "snapshot_count"})
	smallest := minimal_plan.settings(etcd.release, etcd.workload, free, profile.members)
	memory.estimate(etcd.release, profile.estimate.workload, smallest, profile.members).components.raft_log < profile.estimate.components.raft_log
}

# The pinned setting that decides most.
_about(etcd) := stated[0] if {
	stated := [etcd.names[setting] | some setting in ["snapshot_catchup_entries", "snapshot_count"]; etcd.names[setting]]
	count(stated) > 0
} else := "etcd_workload"
