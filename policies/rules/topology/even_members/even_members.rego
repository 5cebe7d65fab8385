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

# A file that lists members which are not among the linted files.
problems contains result.problem(listed, name, text) if {
	some listed in clusters.listed_elsewhere
	listed.size % 2 == 0
	some profile in clusters.profiles
	profile.inventory == listed.inventory
	count(profile.hosts & listed.hosts) > 0
	name := profile.etcd.names.initial_cluster
	text := sprintf("%s lists %d members, which tolerate only as many failures as %d", [name, listed.size, listed.size - 1])
}

# A StatefulSet whose script makes the list of members.
problems contains result.problem(listed, "replicas", text) if {
	some listed in clusters.listed_elsewhere
	listed.size % 2 == 0
	some profile in clusters.profiles
	profile.inventory == listed.inventory
	count(profile.hosts & listed.hosts) > 0
	not profile.etcd.names.initial_cluster
	text := sprintf("replicas is %d, which tolerates only as many failures as %d", [listed.size, listed.size - 1])
}
