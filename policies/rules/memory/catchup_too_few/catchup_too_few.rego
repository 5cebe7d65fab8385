# METADATA
# title: Followers can catch up from the log
# description: |
#   If a follower misses more entries than the leader keeps, the leader sends it the whole database, while writes
#   continue and the log grows. With fewer than about a hundred entries, every network glitch causes that. Only a single
#   member needs none.
# custom:
#   id: memory/catchup_too_few
#   severity: deny
#   fix: Set snapshot-catchup-entries to 30 s of writes, and to 100 at least
#   source: server/etcdserver/raft.go (compaction does not wait for followers); the floor of etcd_memory_plan
package headroom.rules.memory.catchup_too_few

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/catchup_too_few", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	profile.members > 1
	name := profile.etcd.names.snapshot_catchup_entries
	entries := units.parse_count(profile.etcd.settings.snapshot_catchup_entries)
	entries > 0
	entries < threshold.catchup_entries_min
	text := sprintf("%s is %d in a cluster of %d members, under the minimum of %d: a follower that is briefly away is sent the whole database", [
		name,
		entries,
		profile.members,
		threshold.catchup_entries_min,
	])
}
