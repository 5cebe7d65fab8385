# METADATA
# title: All members run the same release
# description: |
#   Members of different releases are normal during an upgrade. A cluster that stays that way has only the features of
#   the oldest release, and a replaced member may come up as either.
# custom:
#   id: version/mixed
#   severity: warn
#   fix: Set etcd_version for the whole cluster; the role upgrades one member at a time
#   source: https://etcd.io/docs/v3.6/upgrades/
package headroom.rules.version.mixed

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("version/mixed", problems)

problems contains result.cluster_problem(inventory, clusters.members[[inventory, cluster]], "etcd_version", text) if {
	some [inventory, cluster], parts in clusters.mixed
	mixture := clusters.differing([{"value": part.etcd.version, "hosts": part.hosts} |
		some part in parts
		part.etcd.version != null
		not "version" in part.etcd.unknown
	])
	text := sprintf("cluster %q mixes releases: %s", [cluster, mixture])
}
