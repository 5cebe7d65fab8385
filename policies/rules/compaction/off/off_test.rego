package headroom_test.compaction.off

import data.headroom.rules.compaction.off as rule
import data.headroom.testing

bad := {
	"not set": {"input": testing.plain({}), "texts": {"X"}},
	"zero": {"input": testing.example({"etcd_auto_compaction_retention": 0}), "texts": {"X"}},
	"0h": {"input": testing.example({"etcd_auto_compaction_retention": "0h"}), "texts": {"X"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"set": testing.plain({"etcd_auto_compaction_retention": "5m"}),
	"unknown": testing.plain({"etcd_auto_compaction_retention": "{{ x }}"}),
	"unknown workload": testing.plain({"etcd_workload": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
