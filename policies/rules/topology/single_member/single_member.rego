# METADATA
# title: A cluster survives the loss of a member
# description: |
#   A single member is a single disk: every restart is an outage, and when it is lost the data is what the last backup
#   holds.
# custom:
#   id: topology/single_member
#   severity: warn
#   fix: Run three members, or waive this rule where the data can be made anew
#   source: https://etcd.io/docs/v3.6/faq/#what-is-failure-tolerance
package headroom.rules.topology.single_member

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("topology/single_member", problems)

problems contains result.cluster_problem(inventory, hosts, "etcd_cluster_name", text) if {
	some [inventory, cluster], hosts in clusters.members
	count(hosts) == 1
	some host in hosts
	text := sprintf("cluster %q has one member, %s: every restart is an outage, and its disk the only copy", [cluster, host])
}
