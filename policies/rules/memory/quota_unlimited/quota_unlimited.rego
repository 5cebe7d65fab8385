# METADATA
# title: The size of the database is limited
# description: |
#   A negative quota means no quota. The quota keeps the database from filling the disk, and a member with a full disk
#   cannot even compact.
# custom:
#   id: memory/quota_unlimited
#   severity: deny
#   fix: Set quota-backend-bytes to a size that fits memory and disk, 8 GiB at most
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#space-quota
package headroom.rules.memory.quota_unlimited

import data.headroom.clusters
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/quota_unlimited", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	units.parse_count(profile.etcd.settings.quota_backend_bytes) < 0
	name := profile.etcd.names.quota_backend_bytes
	text := sprintf("%s is %v, which means no quota, so the database grows until the disk is full", [name, profile.etcd.settings.quota_backend_bytes])
}
