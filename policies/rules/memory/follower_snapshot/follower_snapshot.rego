# METADATA
# title: The memory limit has room for the log while a follower receives a snapshot
# description: |
#   A follower that was away for longer than the catch-up entries reach receives a snapshot of the database. During that, and for 30 s after
#   it, the leader does not compact its raft log, so all that is written stays in its memory. A leader that reaches its limit is killed, just
#   when another member is missing.
# custom:
#   id: memory/follower_snapshot
#   severity: warn
#   fix: Give more memory, or write fewer or smaller values; more snapshot-catchup-entries make a snapshot rarer, and take memory too
#   source: etcdserver/server.go (compactRaftLog, releaseDelayAfterSnapshot), and model/memory.yml
package headroom.rules.memory.follower_snapshot

import data.headroom.estimates
import data.headroom.formulas
import data.headroom.model
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/follower_snapshot", problems)

problems contains result.problem(profile, profile.etcd.limit.name, text) if {
	some profile in estimates.profiles
	not estimates.assumes_workload(profile)
	estimate := profile.estimate
	limit := profile.etcd.limit.bytes

	# Otherwise memory/limit_below_estimate or memory/restart_spike reports it.
	not estimates.exceeds(profile)
	needed := formulas.memory_max_with_snapshot(model.constants[estimate.series], estimate)
	needed > limit
	[required, available] := units.format_sizes_distinctly(needed, limit)
	text := sprintf("etcd %s needs %s at %s writes of %s a second while a follower receives a snapshot, but has %s (%s)", [
		profile.etcd.version,
		required,
		units.format_count(estimate.workload.puts_per_second),
		units.format_size(estimate.workload.value_size),
		available,
		profile.etcd.limit.name,
	])
}
