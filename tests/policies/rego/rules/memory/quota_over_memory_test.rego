package headroom_test.memory.quota_over_memory

import data.headroom.rules.memory.quota_over_memory as rule
import data.headroom.testing

bad := {
	"pinned": {"input": testing.example({"etcd_quota_backend_bytes": "4GB"}), "texts": {"etcd-1: a quota of SIZE is over the SIZE that the heap (SIZE) leaves of SIZE (etcd_memory_budget)"}},
	"etcd's default": {"input": testing.plain({"etcd_memory_max": "512MB"}), "texts": {"etcd-1: a quota of SIZE is over the SIZE that the heap (SIZE) leaves of SIZE (etcd_memory_max)"}},
	"pinned to the default, no plan": {"input": testing.plain({"etcd_memory_max": "1GB", "etcd_quota_backend_bytes": 0}), "texts": {"etcd-1: a quota of SIZE is over the SIZE that the heap (SIZE) leaves of SIZE (etcd_memory_max)"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.shapes(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"pinned to the default": testing.example({"etcd_quota_backend_bytes": 0}),
	"as the plan would": testing.example({"etcd_quota_backend_bytes": "2GB"}),
	"room": testing.example({"etcd_quota_backend_bytes": "1GB"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
