package headroom_test.durability.force_new_cluster

import data.headroom.rules.durability.force_new_cluster as rule
import data.headroom.testing

bad := {
	"on": {"input": testing.example({"etcd_extra_config": {"force-new-cluster": true}}), "texts": {`etcd-1: force-new-cluster is on (etcd_extra_config["force-new-cluster"]): each start throws the other members out`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"off": testing.example({"etcd_extra_config": {"force-new-cluster": false}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
