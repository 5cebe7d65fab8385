# METADATA
# title: No two members of a cluster share a name
# description: |
#   A member finds itself in the cluster's member list by its name. Two members with one name do not start, or start as
#   each other.
# custom:
#   id: topology/same_name
#   severity: deny
#   fix: Give each member its own name, or leave etcd_name out
#   fix_in_files: Give each member a name of its own
#   source: https://etcd.io/docs/v3.6/op-guide/clustering/#static
package headroom.rules.topology.same_name

import data.headroom.clusters
import data.headroom.formats
import data.headroom.releases.spelling
import data.headroom.result

deny contains finding if some finding in result.findings("topology/same_name", problems)

# Names default to the hosts' names, which differ: without an explicit name there is nothing to compare.
problems contains result.cluster_problem(inventory, sharing, variable, text) if {
	count(clusters.names) > 0
	some [inventory, cluster], hosts in clusters.members
	named := {host: name | some host in hosts; name := object.get(clusters.names, [[inventory, host]], host)}
	distinct := {name | some name in named}
	count(distinct) < count(hosts)
	some name in distinct
	name != "default"
	sharing := {host | some host in hosts; named[host] == name}
	count(sharing) > 1
	variable := clusters.name_variable(inventory)
	text := sprintf("%d members of cluster %q are named %q (%s)", [count(sharing), cluster, name, variable])
}

# In a file that configures etcd, members with the same initial-cluster are in one cluster.
problems contains result.cluster_problem(inventory, sharing, about, text) if {
	some [inventory, cluster], hosts in clusters.members
	named := {host: found |
		some host in hosts
		given := formats.inventories[inventory].hosts[host].statement.given
		found := {"name": _entry(given, "name"), "peers": _entry(given, "initial_cluster").value}
	}
	some [value, peers] in {[found.name.value, found.peers] | some found in named}
	value != "default"
	sharing := {host | some host, found in named; found.name.value == value; found.peers == peers}
	count(sharing) > 1
	about := named[min(sharing)].name.name
	text := sprintf("%d members of cluster %q are named %q (%s)", [count(sharing), cluster, value, about])
}

_entry(given, setting) := [entry |
	some entry in given
	spelling.setting(null, entry.form, entry.spelling) == setting
][0]
