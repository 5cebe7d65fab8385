package headroom_test.memory.raft_log_share

import data.headroom.rules.memory.raft_log_share as rule
import data.headroom.testing

bad := {
	"pinned on 3.7": {"input": testing.example({"etcd_workload": {"value_size": "100KB"}, "etcd_snapshot_catchup_entries": 10000}), "texts": {"etcd-1: the raft log takes up to SIZE (10,101 entries of SIZE, kept for slow followers: catch-up 10,000) of SIZE (etcd_memory_budget), more than 25 %, with what is pinned and the least that the plan may choose for the rest"}},
	"pinned on 3.5": {"input": testing.example({"etcd_version": "3.5.35", "etcd_workload": {"value_size": "100KB"}, "etcd_snapshot_count": 10000}), "texts": {"etcd-1: the raft log takes up to SIZE (1 to 10,002 entries of SIZE: catch-up 1 and up to snapshot-count 10,000 more) of SIZE (etcd_memory_budget), more than 25 %, with what is pinned and the least that the plan may choose for the rest"}},
	"the least is too much": {"input": testing.example({"etcd_version": "3.5.35", "etcd_workload": {"value_size": "1MB"}}), "texts": {"etcd-1: the raft log takes up to SIZE (1 to 1,002 entries of SIZE: catch-up 1 and up to snapshot-count 1,000 more) of SIZE (etcd_memory_budget), more than 25 %, even with the least that the plan may choose"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.shapes(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"no limit": testing.plain({"etcd_snapshot_catchup_entries": 1000000}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
