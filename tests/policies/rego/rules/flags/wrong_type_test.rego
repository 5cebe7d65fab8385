package headroom_test.flags.wrong_type

import data.headroom.rules.flags.wrong_type as rule
import data.headroom.testing

bad := {
	"8G": {"input": testing.example({"etcd_extra_config": {"quota-backend-bytes": "8G"}}), "texts": {"etcd-1: etcd_extra_config[\"quota-backend-bytes\"] is \"8G\", and etcd reads a whole number: that is 8589934592"}},
	"a number for a text": {"input": testing.example({"etcd_extra_config": {"auto-compaction-retention": 5}}), "texts": {"etcd-1: etcd_extra_config[\"auto-compaction-retention\"] is 5, and etcd reads a text"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"right": testing.example({"etcd_extra_config": {"quota-backend-bytes": 4294967296}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
