# METADATA
# title: The data has a volume of its own
# description: |
#   On a shared volume the logs, the images and the backups of others delay every fsync of etcd, and fill the disk under
#   it. A volume of its own also stops etcd from starting on the empty folder of one that is not mounted.
# custom:
#   id: disk/not_dedicated
#   severity: warn
#   fix: Set etcd_storage_data_device to a volume for etcd alone
#   source: https://etcd.io/docs/v3.6/op-guide/hardware/#disks
package headroom.rules.disk.not_dedicated

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("disk/not_dedicated", problems)

problems contains result.problem(place, "etcd_storage_data_device", text) if {
	some place in clusters.host_profiles
	not "data_device" in place.unknown
	place.facts.data_device in {null, ""}
	text := "the data lies on whatever volume its folder is on (etcd_storage_data_device is not set)"
}
