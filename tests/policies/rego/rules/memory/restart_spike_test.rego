package headroom_test.memory.restart_spike

import data.headroom.rules.memory.restart_spike as rule
import data.headroom.testing

bad := {
	"pinned": {"input": testing.example({"etcd_workload": {"value_size": "100KB"}, "etcd_snapshot_count": 20000}), "texts": {`etcd-1: a restart replays up to 20,000 entries (etcd_snapshot_count) of SIZE and needs SIZE, while running takes SIZE; the limit is SIZE (etcd_memory_budget), with what is pinned and the least that the plan may choose for the rest`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.shapes(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"on 3.5 it is the steady state": testing.example({"etcd_version": "3.5.35", "etcd_workload": {"value_size": "100KB"}, "etcd_snapshot_count": 20000}),
	"running does not fit either": testing.example({"etcd_memory_budget": "100MB", "etcd_workload": {"keys": 1000000}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
