package headroom_test.memory.unreadable

import data.headroom.rules.memory.unreadable as rule
import data.headroom.testing

bad := {
	"no size": {"input": testing.example({"etcd_workload": {"value_size": "big"}}), "texts": {"etcd-1: workload.value_size is big, which is no size between 0 and 536870912"}},
	"no budget": {"input": testing.example({"etcd_memory_budget": "plenty"}), "texts": {"etcd-1: etcd_memory_budget is plenty, which is no size"}},
	"no version": {"input": testing.example({"etcd_version": "3.4.1"}), "texts": {"etcd-1: 3.4.1 is no etcd version that is known: 3.5, 3.6, 3.7"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"unknown is not unreadable": testing.example({"etcd_workload": {"value_size": "{{ x }}"}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
