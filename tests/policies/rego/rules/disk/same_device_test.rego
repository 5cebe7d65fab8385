package headroom_test.disk.same_device

import data.headroom.rules.disk.same_device as rule
import data.headroom.testing

bad := {
	"the same": {"input": testing.example({"etcd_storage_data_device": "/dev/vdb", "etcd_storage_wal_device": "/dev/vdb"}), "texts": {`etcd-1: data and WAL name the same device, /dev/vdb (etcd_storage_wal_device)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"none": testing.example({"etcd_storage_data_device": "", "etcd_storage_wal_device": ""}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
