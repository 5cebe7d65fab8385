# METADATA
# title: The data is on a dedicated volume
# description: |
#   On a shared volume, the logs, images and backups of other services delay etcd's fsyncs and can fill the disk. With a
#   dedicated volume, etcd also refuses to start on the empty mount point when the volume is not mounted.
# custom:
#   id: disk/not_dedicated
#   severity: warn
#   fix: Set etcd_storage_data_device to a volume that only etcd uses
#   source: https://etcd.io/docs/v3.6/op-guide/hardware/#disks
package headroom.rules.disk.not_dedicated

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("disk/not_dedicated", problems)

problems contains result.problem(host_profile, "etcd_storage_data_device", text) if {
	some host_profile in clusters.host_profiles
	not "data_device" in host_profile.unknown
	host_profile.facts.data_device in {null, ""}
	text := "the data has no volume of its own (etcd_storage_data_device is not set)"
}
