package headroom_test.memory.unreadable

import data.headroom.rules.memory.unreadable as rule
import data.headroom.testing

# The finding points to the setting, or else to the workload.
test_about if {
	{problem.about | some problem in rule.problems} == {"etcd_snapshot_count"} with input as testing.example({"etcd_snapshot_count": "many"})
	{problem.about | some problem in rule.problems} == {"etcd_workload"} with input as testing.example({"etcd_workload": {"value_size": "big"}})
}
