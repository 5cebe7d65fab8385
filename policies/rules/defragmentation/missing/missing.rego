# METADATA
# title: Free pages are given back
# description: |
#   Compaction only marks pages as free. They count against the quota, and they stay in the file, until the member is
#   defragmented. Role etcd_maintenance does that, unless it is told not to.
# custom:
#   id: defragmentation/missing
#   severity: warn
#   fix: Leave etcd_maintenance_defrag_enabled on, or see to it otherwise and waive this rule
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#defragmentation
package headroom.rules.defragmentation.missing

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("defragmentation/missing", problems)

problems contains result.problem(place, "etcd_maintenance_defrag_enabled", text) if {
	some place in clusters.host_profiles
	stated := place.facts.defragmentation
	settings.is_false(stated)
	text := sprintf("nobody defragments this member (etcd_maintenance_defrag_enabled is %v)", [stated])
}
