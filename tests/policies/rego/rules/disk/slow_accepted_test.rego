package headroom_test.disk.slow_accepted

import data.headroom.rules.disk.slow_accepted as rule
import data.headroom.testing

bad := {
	"accepted": {"input": testing.example({"etcd_storage_accept_slow_disk": "yes"}), "texts": {`etcd-1: a disk that failed the check is used all the same (etcd_storage_accept_slow_disk is true)`}},
	"not measured, one disk": {"input": testing.example({"etcd_storage_check_enabled": false, "etcd_storage_wal_device": ""}), "texts": {`etcd-1: the disk is not measured (etcd_storage_check_enabled is false), and the WAL shares it with the data`}},
	"50 ms": {"input": testing.example({"etcd_storage_fsync_p99_max_ms": "50"}), "texts": {`etcd-1: an fsync may take 50 ms (etcd_storage_fsync_p99_max_ms), over 10 ms`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"10 ms": testing.example({"etcd_storage_fsync_p99_max_ms": 10, "etcd_storage_check_enabled": true}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
