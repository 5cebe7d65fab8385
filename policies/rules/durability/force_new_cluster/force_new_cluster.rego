# METADATA
# title: A member does not found a new cluster at each start
# description: |
#   force-new-cluster throws all other members out and goes on alone. It is for the one start of a recovery; left in the
#   configuration, the next restart splits the cluster again.
# custom:
#   id: durability/force_new_cluster
#   severity: deny
#   fix: Remove force-new-cluster, and hand it over by hand in a recovery
#   source: https://etcd.io/docs/v3.6/op-guide/recovery/
package headroom.rules.durability.force_new_cluster

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("durability/force_new_cluster", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	name := profile.etcd.names.force_new_cluster
	settings.is_true(profile.etcd.settings.force_new_cluster)
	text := sprintf("force-new-cluster is on (%s): each start throws the other members out", [name])
}
