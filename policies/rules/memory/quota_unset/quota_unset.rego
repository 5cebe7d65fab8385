# METADATA
# title: The database has a quota that was chosen
# description: |
#   Without a quota etcd stops taking writes at 2 GiB, whatever the disk and the memory could hold, and a cluster that
#   reaches it is read-only until somebody compacts, defragments and disarms the alarm.
# custom:
#   id: memory/quota_unset
#   severity: warn
#   fix: State etcd_workload, from which Headroom computes the quota, or set etcd_quota_backend_bytes
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#space-quota
package headroom.rules.memory.quota_unset

import data.headroom.clusters
import data.headroom.memory
import data.headroom.model
import data.headroom.result

warn contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

warn contains finding if some finding in result.waived(rego.metadata.chain(), _problems)

_problems := {problem |
	some profile in clusters.profiles
	not profile.etcd.planned
	not profile.etcd.names.quota_backend_bytes
	not profile.unknown.etcd_quota_backend_bytes
	not profile.unknown.etcd_workload
	series := memory.series(profile.etcd.version)
	problem := {
		"inventory": profile.inventory,
		"hosts": profile.hosts,
		"about": "etcd_quota_backend_bytes",
		"text": sprintf("quota-backend-bytes is not set, so etcd's default of %s ends all writes", [memory.format_size(model.constants[series].quota_default)]),
	}
}
