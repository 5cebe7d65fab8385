# METADATA
# title: The quota is set
# description: |
#   Without a quota, etcd stops writes at 2 GiB, however large the disk and the memory are, and the cluster stays
#   read-only until someone compacts, defragments and disarms the alarm. A quota of 0 means the same.
# custom:
#   id: memory/quota_unset
#   severity: warn
#   fix: Set quota-backend-bytes, or set etcd_workload and let the plan choose it
#   fix_in_files: Set quota-backend-bytes
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#space-quota
package headroom.rules.memory.quota_unset

import data.headroom.clusters
import data.headroom.model
import data.headroom.releases
import data.headroom.result
import data.headroom.settings
import data.headroom.units

warn contains finding if some finding in result.findings("memory/quota_unset", problems)

problems contains result.problem(profile, "etcd_quota_backend_bytes", text) if {
	some profile in clusters.profiles
	settings.is_unplanned(profile.etcd)
	settings.is_unset(profile.etcd, "quota_backend_bytes")
	series := releases.series(profile.etcd.release)
	text := sprintf("quota-backend-bytes is not set, so writes stop at etcd's default of %s", [units.format_size(model.constants[series].quota_default)])
}

# Source: NewBackendQuota in server/storage/quota.go.
problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	units.parse_size(profile.etcd.settings.quota_backend_bytes) == 0
	name := profile.etcd.names.quota_backend_bytes
	bytes := {constants.quota_default | some constants in model.constants}
	text := sprintf("%s is 0, so writes stop at etcd's default of %s", [name, units.format_size(max(bytes))])
}
