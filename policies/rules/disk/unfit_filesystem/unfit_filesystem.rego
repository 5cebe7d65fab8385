# METADATA
# title: Data and WAL are on a persistent local disk
# description: |
#   Acknowledged writes must be on disk. tmpfs and overlay lose them at a reboot or when the container is removed; a
#   network file system may answer an fsync late, or before it has written. In a container, the folder of the host that is
#   mounted there counts.
# custom:
#   id: disk/unfit_filesystem
#   severity: deny
#   fix: Put data and WAL on a local ext4 or xfs volume
#   source: https://etcd.io/docs/v3.6/op-guide/hardware/#disks; https://etcd.io/docs/v3.6/faq/#deployment
package headroom.rules.disk.unfit_filesystem

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("disk/unfit_filesystem", problems)

# The key "enabled" alone may be on several lines.
problems contains result.problem(host_profile, trim_suffix(host_profile.names[fact], ".enabled"), text) if {
	some host_profile in clusters.host_profiles
	some fact, why in _unfit(host_profile.facts)
	text := sprintf("%s%s is %v, which is %s", [host_profile.names[fact], _where(fact), host_profile.facts[fact], why])
}

_where(fact) := " on the host" if {
	fact == "data_dir_on_host"
} else := ""

_unfit(facts) := object.union_n([
	{fact: "memory, not a disk" | some fact in _directories; regex.match(`^/(dev/shm|run|var/run)(/|$)`, facts[fact])},
	{fact: "emptied at boot" | some fact in _directories; regex.match(`^/tmp(/|$)`, facts[fact])},
	{fact: "where systemd deletes what was not used for 30 days" | some fact in _directories; regex.match(`^/var/tmp(/|$)`, facts[fact])},
	{fact: "memory, not a disk" | some fact in _devices; regex.match(`^/dev/z?ram[0-9]`, facts[fact])},
	{fact: "a network file system" | some fact in _devices; regex.match(`^([^/]+:/|//)`, facts[fact])},
	{"persistent": "an emptyDir, deleted with the pod" | facts.persistent == false},
	{fact: why | some fact in ["data_fstype"]; why := _filesystems[facts[fact]]},
])

_directories := ["data_dir", "data_dir_on_host", "wal_dir"]

_devices := ["data_device", "wal_device"]

_filesystems := object.union_n([
	{name: "memory, not a disk" | some name in ["tmpfs", "ramfs"]},
	{"emptyDir": "deleted with the pod"},
	{name: "deleted with the container" | some name in ["overlay", "aufs"]},
	{name: "a network file system" | some name in ["nfs", "nfs4", "cifs", "smb3", "glusterfs", "ceph", "9p", "fuse.sshfs", "fuse.s3fs"]},
])
