package headroom_test.memory.limit_below_estimate

import data.headroom.rules.memory.limit_below_estimate as rule
import data.headroom.testing

bad := {
	"pinned": {"input": testing.example({"etcd_workload": {"value_size": "100KB", "range_size": "100MB"}, "etcd_snapshot_catchup_entries": 20000}), "texts": {"etcd-1: etcd 3.7.3 needs SIZE at its peak (raft log SIZE, range answers SIZE) and has SIZE (etcd_memory_budget), with what is pinned and the least that the plan may choose for the rest"}},
	"nothing fits": {"input": testing.example({"etcd_memory_budget": "100MB", "etcd_workload": {"keys": 1000000}}), "texts": {"etcd-1: etcd 3.7.3 needs SIZE at its peak (index SIZE, range answers SIZE) and has SIZE (etcd_memory_budget), even with the least that the plan may choose"}},
	"defaults, memory_max": {"input": testing.plain({"etcd_version": "3.5.35", "etcd_memory_max": "64MB"}), "texts": {"etcd-1: etcd 3.5.35 needs SIZE at its peak (raft log SIZE, index SIZE) and has SIZE (etcd_memory_max), with what is set, etcd's defaults for the rest, and a modest workload where none is stated"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.shapes(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"no limit": testing.plain({}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
