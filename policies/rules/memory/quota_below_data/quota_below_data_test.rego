package headroom_test.memory.quota_below_data

import data.headroom.rules.memory.quota_below_data as rule
import data.headroom.testing

bad := {
	"pinned": {"input": testing.example({"etcd_quota_backend_bytes": "1MB"}), "texts": {"X"}},
	"the largest is too small": {"input": testing.example({"etcd_memory_budget": "64GB", "etcd_workload": {"keys": 1000000}}), "texts": {"X"}},
	"etcd's default": {"input": testing.plain({"etcd_memory_max": "64GB", "etcd_auto_compaction_retention": "10h", "etcd_quota_backend_bytes": 0}), "texts": {"X"}},
	"a default nobody chose": {"input": testing.plain({"etcd_memory_max": "64GB", "etcd_auto_compaction_retention": "10h"}), "texts": {"X"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"no compaction": testing.example({"etcd_auto_compaction_retention": "0"}),
	"no quota": testing.example({"etcd_quota_backend_bytes": -1}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
