# METADATA
# title: All members have the same timings
# description: |
#   A follower with a shorter election timeout calls elections while the leader's heartbeats are still on time: the
#   cluster loses its leader again and again although nothing is broken.
# custom:
#   id: topology/uneven_timings
#   severity: deny
#   fix: Set heartbeat-interval and election-timeout for the whole cluster
#   source: https://etcd.io/docs/v3.6/tuning/#time-parameters
package headroom.rules.topology.uneven_timings

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("topology/uneven_timings", problems)

problems contains result.cluster_problem(inventory, clusters.members[[inventory, cluster]], sprintf("etcd_%s", [setting]), text) if {
	some [inventory, cluster], parts in clusters.mixed
	some setting in ["heartbeat_interval", "election_timeout"]
	mixture := clusters.differing([{"value": settings.effective_number(part.etcd, setting)[0], "hosts": part.hosts} | some part in parts])
	text := sprintf("cluster %q mixes values of %s: %s", [cluster, replace(setting, "_", "-"), mixture])
}
