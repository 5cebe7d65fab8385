package headroom_test.compaction.off

import data.headroom.rules.compaction.off as rule
import data.headroom.testing

bad := {
	"not set": {"input": testing.plain({}), "texts": {"etcd-1: auto-compaction-retention is not set, and etcd's default keeps every revision ever written"}},
	"zero": {"input": testing.example({"etcd_auto_compaction_retention": 0}), "texts": {"etcd-1: etcd_auto_compaction_retention is 0, so every revision ever written is kept"}},
	"0h": {"input": testing.example({"etcd_auto_compaction_retention": "0h"}), "texts": {"etcd-1: etcd_auto_compaction_retention is 0h, so every revision ever written is kept"}},
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
