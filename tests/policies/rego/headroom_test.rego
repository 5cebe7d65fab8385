package headroom_test

import data.headroom
import data.headroom.testing

test_the_example_is_clean if {
	count(headroom.deny) == 0 with input as testing.example_of(3, {})
	count(headroom.warn) == 0 with input as testing.example_of(3, {})
}

# The defaults of 3.5 with large values: what the plan would avoid.
test_a_bad_inventory if {
	bad := testing.example_of(3, {"etcd_version": "3.5.35", "etcd_workload": {"value_size": "1MB"}, "etcd_snapshot_count": 100000})
	denied := {finding.code | some finding in headroom.deny} with input as bad
	denied == {"memory/large_values", "memory/raft_log_share", "memory/limit_below_estimate"}
	warned := {finding.code | some finding in headroom.warn} with input as bad
	warned == {"memory/snapshot_count"}
}
