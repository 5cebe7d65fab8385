# METADATA
# title: Members are defragmented
# description: |
#   Compaction only marks pages as free. They stay in the file, and count against the quota, until the member is
#   defragmented. The role etcd_maintenance defragments members unless it is turned off.
# custom:
#   id: defragmentation/missing
#   severity: warn
#   fix: Leave etcd_maintenance_defrag_enabled on, or defragment by other means and waive this rule
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#defragmentation
package headroom.rules.defragmentation.missing

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("defragmentation/missing", problems)

problems contains result.problem(host_profile, "etcd_maintenance_defrag_enabled", text) if {
	some host_profile in clusters.host_profiles
	stated := host_profile.facts.defragmentation
	settings.is_false(stated)
	text := sprintf("this member is not defragmented (etcd_maintenance_defrag_enabled is %v)", [stated])
}
