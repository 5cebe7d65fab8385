package headroom_test.disk.unfit_filesystem

import data.headroom.rules.disk.unfit_filesystem as rule
import data.headroom.testing

bad := {
	"a folder in memory": {"input": testing.example({"etcd_data_dir": "/dev/shm/etcd"}), "texts": {`etcd-1: etcd_data_dir is /dev/shm/etcd, memory, not a disk`}},
	"/tmp": {"input": testing.example({"etcd_wal_dir": "/tmp/wal"}), "texts": {`etcd-1: etcd_wal_dir is /tmp/wal, emptied at a reboot`}},
	"NFS": {"input": testing.example({"etcd_storage_data_device": "10.0.0.5:/export/etcd", "etcd_storage_fstype": "nfs4"}), "texts": {`etcd-1: etcd_storage_data_device is 10.0.0.5:/export/etcd, a network file system`, `etcd-1: etcd_storage_fstype is nfs4, a network file system`}},
	"RAM disk": {"input": testing.example({"etcd_storage_wal_device": "/dev/ram0"}), "texts": {`etcd-1: etcd_storage_wal_device is /dev/ram0, memory, not a disk`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"a disk": testing.example({"etcd_data_dir": "/var/lib/etcd/data", "etcd_storage_fstype": "xfs"}),
	"a number": testing.example({"etcd_data_dir": 5}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
