package headroom_test.memory.gomemlimit_ignored

import data.headroom.rules.memory.gomemlimit_ignored as rule
import data.headroom.testing

bad := {
	"3.5.7": {"input": testing.example({"etcd_version": "3.5.7", "etcd_gomemlimit": "1GB"}), "texts": {`etcd-1: etcd_gomemlimit is 1GB, and etcd 3.5.7 ignores it: it needs 3.5.8`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"3.5.8": testing.example({"etcd_version": "3.5.8", "etcd_gomemlimit": "1GB"}),
	"no version": testing.example({"etcd_version": "x", "etcd_gomemlimit": "1GB"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
