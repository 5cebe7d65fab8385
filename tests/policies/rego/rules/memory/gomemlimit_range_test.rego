package headroom_test.memory.gomemlimit_range

import data.headroom.rules.memory.gomemlimit_range as rule
import data.headroom.testing

bad := {
	"over the limit": {"input": testing.example({"etcd_gomemlimit": "4GB"}), "texts": {`etcd-1: etcd_gomemlimit is SIZE, over the memory limit of SIZE (etcd_memory_budget), so the kernel kills before it has an effect`}},
	"under the heap": {"input": testing.example({"etcd_workload": {"keys": 1000000}, "etcd_memory_budget": "16GB", "etcd_gomemlimit": "32MB"}), "texts": {`etcd-1: etcd_gomemlimit is SIZE, under the SIZE that the live heap of SIZE wants, so Go collects without pause`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.shapes(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"between": testing.example({"etcd_gomemlimit": "1700MB"}),
	"no limit": testing.plain({"etcd_gomemlimit": "4GB"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
