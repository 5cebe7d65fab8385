# METADATA
# title: The volume has room for a defragmentation
# description: |
#   A defragmentation writes a copy of the database before it replaces the old file. On a volume smaller than twice the
#   quota it can fail halfway, and a full disk stops the member.
# custom:
#   id: defragmentation/no_room
#   severity: warn
#   fix: Give the data volume twice the quota, and raise etcd_storage_data_min_size to match
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#defragmentation; server/storage/backend (defrag)
package headroom.rules.defragmentation.no_room

import data.headroom.clusters
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("defragmentation/no_room", problems)

problems contains result.problem(profile, "etcd_storage_data_min_size", text) if {
	some profile in clusters.profiles
	size := profile.etcd.data_size
	is_number(size)
	[quota, origin] := _quota(profile.etcd)
	2 * quota > size
	text := sprintf("the data volume may be as small as %s (etcd_storage_data_min_size), but defragmenting a database at its quota of %s (%s) needs %s", [
		units.format_size(size),
		units.format_size(quota),
		origin,
		units.format_size(2 * quota),
	])
}

# A plan knows the volume, and chooses a quota that leaves room.
_quota(etcd) := [bytes, etcd.names.quota_backend_bytes] if {
	bytes := units.parse_size(etcd.settings.quota_backend_bytes)
	bytes > 0
}
