package headroom_test.version.end_of_life

import data.headroom.rules.version.end_of_life as rule
import data.headroom.testing

bad := {
	"3.4": {"input": testing.example({"etcd_version": "3.4.27"}), "texts": {`etcd-1: etcd 3.4.27 is of series 3.4, which gets no fixes any more; the oldest that does is 3.5`}},
	"2.3": {"input": testing.example({"etcd_version": "v2.3"}), "texts": {`etcd-1: etcd v2.3 is of series 2.3, which gets no fixes any more; the oldest that does is 3.5`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"3.5": testing.example({"etcd_version": "3.5.35"}),
	"3.10": testing.example({"etcd_version": "3.10.0"}),
	"none": testing.example({"etcd_version": "latest"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
