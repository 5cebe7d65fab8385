# METADATA
# title: A cluster has an odd number of members
# description: |
#   A cluster works while more than half of its members do. One member more than an odd number does not tolerate one
#   more failure: it only adds a member that can fail, and that writes may have to wait for.
# custom:
#   id: topology/even_members
#   severity: warn
#   fix: Add or remove a member
#   source: https://etcd.io/docs/v3.6/faq/#why-an-odd-number-of-cluster-members
package headroom.rules.topology.even_members

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("topology/even_members", problems)

problems contains result.cluster_problem(inventory, hosts, "etcd_cluster_name", text) if {
	some [inventory, cluster], hosts in clusters.members
	count(hosts) % 2 == 0
	text := sprintf("cluster %q has %d members, which tolerate only as many failures as %d", [cluster, count(hosts), count(hosts) - 1])
}

# A file that states the size of a cluster whose other members are not among the linted files.
problems contains result.problem(stated, stated.name, text) if {
	some stated in clusters.stated_elsewhere
	stated.size % 2 == 0
	text := sprintf("%s, so the cluster tolerates only as many failures as with %d", [stated.statement, stated.size - 1])
}
