# METADATA
# title: GOMEMLIMIT lies between the live heap and the limit
# description: |
#   Below what lives in the heap Go collects without pause and etcd stands still. Above the memory limit it has no effect:
#   the kernel kills first.
# custom:
#   id: memory/gomemlimit_range
#   severity: deny
#   fix: Set GOMEMLIMIT to about nine tenths of the memory limit, or leave it to the plan
#   source: https://go.dev/doc/gc-guide#Memory_limit, and model/memory.yml (gomemlimit_floor)
package headroom.rules.memory.gomemlimit_range

import data.headroom.clusters
import data.headroom.estimates
import data.headroom.formulas
import data.headroom.model
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/gomemlimit_range", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	name := profile.etcd.names.gomemlimit
	bytes := units.parse_size(profile.etcd.settings.gomemlimit)
	bytes > profile.etcd.limit.bytes
	text := sprintf("%s is %s, over the memory limit of %s (%s), so the kernel kills before it has an effect", [
		name,
		units.format_size(bytes),
		units.format_size(profile.etcd.limit.bytes),
		profile.etcd.limit.name,
	])
}

problems contains result.problem(profile, name, text) if {
	some profile in estimates.profiles
	name := profile.etcd.names.gomemlimit
	bytes := units.parse_size(profile.etcd.settings.gomemlimit)
	bytes <= profile.etcd.limit.bytes
	live := profile.estimate.heap_live
	least := formulas.smallest_heap(model.constants[profile.estimate.series], live, 0)
	bytes < least
	text := sprintf("%s is %s, under the %s that the live heap of %s wants, so Go collects without pause", [
		name,
		units.format_size(bytes),
		units.format_size(least),
		units.format_size(live),
	])
}
