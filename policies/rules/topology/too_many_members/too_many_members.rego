# METADATA
# title: A cluster has at most seven members
# description: |
#   The leader sends every write to all members and waits for a majority: more members make a cluster slower, not safer.
#   Five members survive two failures, which is enough for nearly every cluster.
# custom:
#   id: topology/too_many_members
#   severity: deny
#   fix: Run five members; serve more readers through etcd grpc-proxy, or split the data over several clusters
#   source: https://etcd.io/docs/v3.6/faq/#what-is-maximum-cluster-size
package headroom.rules.topology.too_many_members

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result

deny contains finding if some finding in result.findings("topology/too_many_members", problems)

problems contains result.cluster_problem(inventory, hosts, "etcd_cluster_name", text) if {
	some [inventory, cluster], hosts in clusters.members
	count(hosts) > threshold.members_max
	text := sprintf("cluster %q has %d members, over the limit of %d: every write waits for a majority of them", [cluster, count(hosts), threshold.members_max])
}

# A file that states the size of a cluster whose other members are not among the linted files.
problems contains result.problem(stated, stated.name, text) if {
	some stated in clusters.stated_elsewhere
	stated.size > threshold.members_max
	text := sprintf("%s, over the limit of %d: every write waits for a majority of them", [stated.statement, threshold.members_max])
}
