# METADATA
# title: GOMEMLIMIT is between the live heap and the memory limit
# description: |
#   With GOMEMLIMIT below the live heap, Go collects garbage all the time and etcd stalls. Above the memory limit it has
#   no effect: the kernel kills etcd first.
# custom:
#   id: memory/gomemlimit_range
#   severity: deny
#   fix: Set GOMEMLIMIT to about nine tenths of the memory limit, or let the plan choose it
#   fix_in_files: Set GOMEMLIMIT to about nine tenths of the memory limit
#   source: https://go.dev/doc/gc-guide#Memory_limit, and model/memory.yml (gomemlimit_floor)
package headroom.rules.memory.gomemlimit_range

import data.headroom.clusters
import data.headroom.estimates
import data.headroom.formulas
import data.headroom.model
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/gomemlimit_range", problems)

warn contains finding if {
	estimates.assume_a_workload
	some finding in result.assumed("memory/gomemlimit_range", problems)
}

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	name := profile.etcd.names.gomemlimit
	bytes := units.parse_size(profile.etcd.settings.gomemlimit)
	bytes > profile.etcd.limit.bytes
	[given, limit] := units.format_sizes_distinctly(bytes, profile.etcd.limit.bytes)
	text := sprintf("%s is %s, over the memory limit of %s (%s), so the kernel kills etcd before it takes effect", [
		name,
		given,
		limit,
		profile.etcd.limit.name,
	])
}

problems contains problem if {
	some profile in estimates.profiles
	name := profile.etcd.names.gomemlimit
	bytes := units.parse_size(profile.etcd.settings.gomemlimit)
	bytes <= profile.etcd.limit.bytes
	live := profile.estimate.heap_live
	floor_bytes := formulas.smallest_heap(model.constants[profile.estimate.series], live, 0)
	bytes < floor_bytes
	[given, minimum] := units.format_sizes_distinctly(bytes, floor_bytes)
	text := sprintf("%s is %s, under the minimum of %s for a live heap of %s, so Go collects garbage all the time", [
		name,
		given,
		minimum,
		units.format_size(live),
	])
	problem := _assuming_workload(profile, result.problem(profile, name, text))
}

_assuming_workload(profile, problem) := result.warning_with_assumption(problem, estimates.assumption(profile)) if {
	estimates.assumes_workload(profile)
} else := problem
