# METADATA
# title: All members have the same quota
# description: |
#   The member with the smallest quota raises an alarm that stops writes on all members. The larger quotas of the others
#   are never used.
# custom:
#   id: topology/uneven_quota
#   severity: warn
#   fix: Set quota-backend-bytes for the whole cluster
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#space-quota
package headroom.rules.topology.uneven_quota

import data.headroom.clusters
import data.headroom.model
import data.headroom.releases
import data.headroom.result
import data.headroom.settings
import data.headroom.units

warn contains finding if some finding in result.findings("topology/uneven_quota", problems)

problems contains result.cluster_problem(inventory, clusters.members[[inventory, cluster]], "etcd_quota_backend_bytes", text) if {
	some [inventory, cluster], parts in clusters.mixed
	mixture := clusters.differing([{"value": units.format_size(bytes), "hosts": part.hosts} |
		some part in parts
		bytes := _quota(part.etcd)
	])
	text := sprintf("cluster %q mixes quotas: %s, and the smallest stops writes on all members", [cluster, mixture])
}

# Without a plan, 0 and an unset quota mean etcd's default.
_quota(etcd) := bytes if {
	bytes := units.parse_size(etcd.settings.quota_backend_bytes)
	bytes > 0
} else := model.constants[releases.series(etcd.release)].quota_default if {
	settings.is_unplanned(etcd)
	not "quota_backend_bytes" in etcd.unknown
	not _unlimited(etcd)
}

# memory/quota_unlimited reports these.
_unlimited(etcd) if units.parse_count(etcd.settings.quota_backend_bytes) < 0
