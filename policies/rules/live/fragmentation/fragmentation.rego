# METADATA
# title: Free pages do not fill the database
# description: |
#   A database never shrinks by itself. Free pages count towards the quota, and a snapshot or a new member copies them.
# custom:
#   id: live/fragmentation
#   severity: warn
#   fix: Defragment the members, one at a time (role etcd_maintenance, or module etcd_defrag)
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#defragmentation
package headroom.rules.live.fragmentation

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("live/fragmentation", problems)

problems contains result.problem(host_profile, "db_free", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.db_free >= threshold.free_bytes
	host_profile.facts.db_free * 1000 >= host_profile.facts.db_size * threshold.free_permille
	text := sprintf("%s of the database's %s are free pages", [
		units.format_size(host_profile.facts.db_free),
		units.format_size(host_profile.facts.db_size),
	])
}
