# METADATA
# title: The database has a bound
# description: |
#   A negative quota is none at all. The quota is what keeps the database from filling the disk, and a member whose disk
#   is full cannot even compact.
# custom:
#   id: memory/quota_unlimited
#   severity: deny
#   fix: Set quota-backend-bytes to what memory and disk can hold, 8 GiB at most
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
	text := sprintf("%s is %v: no quota at all, so the database grows until the disk is full", [name, profile.etcd.settings.quota_backend_bytes])
}
