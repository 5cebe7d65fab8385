# METADATA
# title: Data and WAL are on separate devices
# description: |
#   A separate WAL device keeps the log's fsyncs from waiting for writes to the database. Naming one device twice gives
#   one filesystem and one queue.
# custom:
#   id: disk/same_device
#   severity: deny
#   fix: Name another device, or leave etcd_storage_wal_device out
#   source: https://etcd.io/docs/v3.6/op-guide/hardware/#disks
package headroom.rules.disk.same_device

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("disk/same_device", problems)

problems contains result.problem(host_profile, "etcd_storage_wal_device", text) if {
	some host_profile in clusters.host_profiles
	device := host_profile.facts.data_device
	not device in {null, ""}
	device == host_profile.facts.wal_device
	text := sprintf("data and WAL are on the same device, %v (etcd_storage_wal_device)", [device])
}
