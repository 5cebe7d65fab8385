package headroom_test.durability.unsafe_no_fsync

import data.headroom.rules.durability.unsafe_no_fsync as rule
import data.headroom.testing

bad := {
	"on": {"input": testing.example({"etcd_extra_config": {"unsafe-no-fsync": true}}), "texts": {`etcd-1: unsafe-no-fsync is on (etcd_extra_config["unsafe-no-fsync"]): a loss of power loses writes that were acknowledged`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"off": testing.example({"etcd_extra_config": {"unsafe-no-fsync": false}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
