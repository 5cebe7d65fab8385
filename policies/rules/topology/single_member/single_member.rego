# METADATA
# title: A cluster survives the loss of a member
# description: |
#   With a single member, every restart is an outage. If its disk is lost, only the last backup remains.
# custom:
#   id: topology/single_member
#   severity: warn
#   fix: Run three members, or waive this rule where the data can be recreated
#   source: https://etcd.io/docs/v3.6/faq/#what-is-failure-tolerance
package headroom.rules.topology.single_member

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("topology/single_member", problems)

problems contains result.cluster_problem(inventory, hosts, "etcd_cluster_name", text) if {
	some [inventory, cluster], hosts in clusters.members
	count(hosts) == 1
	some host in hosts
	text := sprintf("cluster %q has one member, %s: every restart is an outage, and its disk holds the only copy of the data", [cluster, host])
}
