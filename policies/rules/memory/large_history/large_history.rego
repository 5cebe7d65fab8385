# METADATA
# title: Large values do not change often
# description: |
#   Every version of a key stays in the database until it is compacted, and every change passes through the raft log.
#   Changing a part of a large value costs its whole size each time.
# custom:
#   id: memory/large_history
#   severity: warn
#   fix: Split the value into several keys, so that a change rewrites only one of them
#   source: the measurements in model/memory.yml (database, raft log)
package headroom.rules.memory.large_history

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/large_history", problems)

problems contains result.problem(profile, "etcd_workload", text) if {
	some profile in clusters.profiles
	size := units.parse_size(profile.etcd.workload.value_size)
	versions := units.parse_count(profile.etcd.workload.revisions_per_key)
	versions > 1
	size * versions > threshold.history_bytes_per_key
	[total, limit] := units.format_sizes_distinctly(size * versions, threshold.history_bytes_per_key)
	text := sprintf("%s versions (etcd_workload.revisions_per_key) of a value of %s are %s per key, over the limit of %s", [
		units.format_count(versions),
		units.format_size(size),
		total,
		limit,
	])
}
