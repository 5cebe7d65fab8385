package headroom_test.disk.not_dedicated

import data.headroom.rules.disk.not_dedicated as rule
import data.headroom.testing

bad := {
	"not set": {"input": testing.plain({}), "texts": {`etcd-1: the data lies on whatever volume its folder is on (etcd_storage_data_device is not set)`}},
	"empty": {"input": testing.example({"etcd_storage_data_device": ""}), "texts": {`etcd-1: the data lies on whatever volume its folder is on (etcd_storage_data_device is not set)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"unknown": testing.example({"etcd_storage_data_device": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
