package headroom_test.memory.snapshot_count_too_low

import data.headroom.rules.memory.snapshot_count_too_low as rule
import data.headroom.testing

bad := {
	"3.7": {"input": testing.example({"etcd_snapshot_count": 100}), "texts": {`etcd-1: etcd_snapshot_count is 100, under 500: a snapshot each 100 writes`}},
	"3.5": {"input": testing.example({"etcd_version": "3.5.35", "etcd_snapshot_count": 500}), "texts": {`etcd-1: etcd_snapshot_count is 500, under 1,000: a snapshot each 500 writes`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"enough": testing.example({"etcd_snapshot_count": 500}),
	"zero is the default": testing.example({"etcd_snapshot_count": 0}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
