# METADATA
# title: A member does not form a new cluster at every start
# description: |
#   force-new-cluster removes all other members and continues with one. It is meant for a single start during a
#   recovery; left in the configuration, it splits the cluster again at the next restart.
# custom:
#   id: durability/force_new_cluster
#   severity: deny
#   fix: Remove force-new-cluster, and pass it by hand during a recovery
#   source: https://etcd.io/docs/v3.6/op-guide/recovery/
package headroom.rules.durability.force_new_cluster

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("durability/force_new_cluster", problems)

problems contains result.with_value(result.problem(profile, name, text), false) if {
	some profile in clusters.profiles
	name := profile.etcd.names.force_new_cluster
	settings.is_true(profile.etcd.settings.force_new_cluster)
	text := sprintf("force-new-cluster is on (%s), so every start removes all other members", [name])
}
