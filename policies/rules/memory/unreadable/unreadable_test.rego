package headroom_test.memory.unreadable

import data.headroom.rules.memory.unreadable as rule
import data.headroom.testing

bad := {
	"no size": {"input": testing.example({"etcd_workload": {"value_size": "big"}}), "texts": {"X"}},
	"no version": {"input": testing.example({"etcd_version": "3.4.1"}), "texts": {"X"}},
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
