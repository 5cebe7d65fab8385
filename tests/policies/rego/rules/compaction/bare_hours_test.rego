package headroom_test.compaction.bare_hours

import data.headroom.rules.compaction.bare_hours as rule
import data.headroom.testing

bad := {
	"five": {"input": testing.example({"etcd_auto_compaction_retention": 5}), "texts": {`etcd-1: etcd_auto_compaction_retention is 5, which periodic mode takes for 5 hours`}},
	"one": {"input": testing.example({"etcd_auto_compaction_retention": "1"}), "texts": {`etcd-1: etcd_auto_compaction_retention is 1, which periodic mode takes for 1 hour`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"with a unit": testing.example({"etcd_auto_compaction_retention": "5m"}),
	"revisions": testing.example({"etcd_auto_compaction_mode": "revision", "etcd_auto_compaction_retention": 5000}),
	"off": testing.example({"etcd_auto_compaction_retention": 0}),
	"mode unknown": testing.plain({"etcd_auto_compaction_mode": "{{ x }}", "etcd_auto_compaction_retention": 5000}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
