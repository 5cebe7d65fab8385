package headroom_test.defragmentation.no_room

import data.headroom.rules.defragmentation.no_room as rule
import data.headroom.testing

bad := {
	"twice": {"input": testing.example({"etcd_quota_backend_bytes": "4GB", "etcd_memory_budget": "16GB", "etcd_storage_data_min_size": "6GB"}), "texts": {`etcd-1: the data volume may be as small as 6.0 GiB (etcd_storage_data_min_size), and a defragmentation of 4.0 GiB at the quota (etcd_quota_backend_bytes) needs 8.0 GiB`}},
	"the default": {"input": testing.plain({"etcd_storage_data_min_size": "3GB"}), "texts": {`etcd-1: the data volume may be as small as 3.0 GiB (etcd_storage_data_min_size), and a defragmentation of 2.0 GiB at the quota (the default of 3.6) needs 4.0 GiB`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"planned": testing.example({"etcd_storage_data_min_size": "3GB"}),
	"the example": testing.example({}),
	"room": testing.example({"etcd_storage_data_min_size": "20GB"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
