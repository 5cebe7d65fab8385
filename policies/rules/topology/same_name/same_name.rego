# METADATA
# title: No two members of a cluster share a name
# description: |
#   A member finds itself in the list of the cluster by its name. Two with the same one do not start, or start as each
#   other.
# custom:
#   id: topology/same_name
#   severity: deny
#   fix: Give each member a name of its own, or leave etcd_name out
#   source: https://etcd.io/docs/v3.6/op-guide/clustering/#static
package headroom.rules.topology.same_name

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("topology/same_name", problems)

# Hosts differ in name, so without a name of its own for one of them nothing need be compared.
problems contains result.cluster_problem(inventory, sharing, "etcd_name", text) if {
	count(clusters.names) > 0
	some [inventory, cluster], hosts in clusters.members
	named := {host: name | some host in hosts; name := object.get(clusters.names, [[inventory, host]], host)}
	distinct := {name | some name in named}
	count(distinct) < count(hosts)
	some name in distinct
	name != "default"
	sharing := {host | some host in hosts; named[host] == name}
	count(sharing) > 1
	text := sprintf("%d members of cluster %q are called %q (etcd_name)", [count(sharing), cluster, name])
}
