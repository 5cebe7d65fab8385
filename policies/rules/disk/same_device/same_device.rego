# METADATA
# title: Data and WAL have a device each
# description: |
#   A WAL device is there so that an fsync of the log does not wait for the database. The same device named twice gives
#   one filesystem and no second queue.
# custom:
#   id: disk/same_device
#   severity: deny
#   fix: Name another device, or leave etcd_storage_wal_device out
#   source: https://etcd.io/docs/v3.6/op-guide/hardware/#disks
package headroom.rules.disk.same_device

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("disk/same_device", problems)

problems contains result.problem(place, "etcd_storage_wal_device", text) if {
	some place in clusters.host_profiles
	device := place.facts.data_device
	not device in {null, ""}
	device == place.facts.wal_device
	text := sprintf("data and WAL name the same device, %v (etcd_storage_wal_device)", [device])
}
