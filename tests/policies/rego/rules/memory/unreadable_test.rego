package headroom_test.memory.unreadable

import data.headroom.rules.memory.unreadable as rule
import data.headroom.testing

bad := {
	"no size": {"input": testing.example({"etcd_workload": {"value_size": "big"}}), "texts": {"etcd-1: etcd_workload.value_size is big, which is no size between 0 and 536870912"}},
	"no budget": {"input": testing.example({"etcd_memory_budget": "plenty"}), "texts": {"etcd-1: etcd_memory_budget is plenty, which is no size"}},
	"a setting": {"input": testing.example({"etcd_snapshot_count": "many"}), "texts": {"etcd-1: etcd_snapshot_count is many, which is no count between 0 and 100000000"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"an empty budget is none": testing.example({"etcd_memory_budget": ""}),
	"other rules speak of the version": testing.example({"etcd_version": "3.4.1"}),
	"and of GOMEMLIMIT": testing.example({"etcd_version": "3.5.7", "etcd_gomemlimit": "1GB"}),
	"unknown is not unreadable": testing.example({"etcd_workload": {"value_size": "{{ x }}"}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
