package headroom_test.memory.quota_below_data

import data.headroom.rules.memory.quota_below_data as rule
import data.headroom.testing

bad := {
	"pinned": {"input": testing.example({"etcd_quota_backend_bytes": "1MB"}), "texts": {"etcd-1: live keys and a history of 30s take SIZE of database, and the quota is SIZE (etcd_quota_backend_bytes)"}},
	"the largest is too small": {"input": testing.example({"etcd_memory_budget": "64GB", "etcd_workload": {"keys": 1000000}}), "texts": {"etcd-1: live keys and a history of 30s take SIZE of database, and the quota is SIZE (the largest that the plan may choose)"}},
	"pinned to etcd's default": {"input": testing.example({"etcd_memory_budget": "64GB", "etcd_workload": {"keys": 400000}, "etcd_quota_backend_bytes": 0}), "texts": {"etcd-1: live keys and a history of 30s take SIZE of database, and the quota is SIZE (etcd_quota_backend_bytes)"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.shapes(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"no workload": testing.plain({"etcd_memory_max": "64GB", "etcd_auto_compaction_retention": "10h"}),
	"no compaction": testing.example({"etcd_auto_compaction_retention": "0"}),
	"no quota": testing.example({"etcd_quota_backend_bytes": -1}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
