# METADATA
# title: A defragmentation has room on the disk
# description: |
#   A defragmentation writes the database anew beside the old one before it replaces it. On a volume that holds the quota
#   but not twice of it, it fails halfway, and a full disk stops the member.
# custom:
#   id: defragmentation/no_room
#   severity: warn
#   fix: Give the data volume twice the quota, and raise etcd_storage_data_min_size to that
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#defragmentation; server/storage/backend (defrag)
package headroom.rules.defragmentation.no_room

import data.headroom.clusters
import data.headroom.memory
import data.headroom.result

warn contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

warn contains finding if some finding in result.waived(rego.metadata.chain(), _problems)

_problems := {problem |
	some profile in clusters.estimated
	size := profile.etcd.data_size
	quota := memory.parse_size(profile.settings.quota_backend_bytes)
	is_number(size)
	2 * quota > size
	problem := {
		"inventory": profile.inventory,
		"hosts": profile.hosts,
		"about": "etcd_storage_data_min_size",
		"text": sprintf("the data volume may be as small as %s (etcd_storage_data_min_size), and a defragmentation of %s at the quota (%s) needs %s", [
			memory.format_size(size),
			memory.format_size(quota),
			object.get(profile.etcd.names, "quota_backend_bytes", "the least that the plan may choose"),
			memory.format_size(2 * quota),
		]),
	}
}
