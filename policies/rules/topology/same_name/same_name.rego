# METADATA
# title: No two members of a cluster share a name
# description: |
#   A member finds itself in the cluster's member list by its name. Two members with one name do not start, or start as
#   each other.
# custom:
#   id: topology/same_name
#   severity: deny
#   fix: Give each member its own name, or leave etcd_name out
#   source: https://etcd.io/docs/v3.6/op-guide/clustering/#static
package headroom.rules.topology.same_name

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("topology/same_name", problems)

# Names default to the hosts' names, which differ: without an explicit name there is nothing to compare.
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
	text := sprintf("%d members of cluster %q are named %q (etcd_name)", [count(sharing), cluster, name])
}
