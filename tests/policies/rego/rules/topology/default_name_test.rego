package headroom_test.topology.default_name

import data.headroom.rules.topology.default_name as rule
import data.headroom.testing

bad := {
	"default": {"input": testing.cluster(2, {"etcd_name": "default"}), "texts": {`etcd-1, etcd-2: the member is called "default" (etcd_name), as every member without a name is`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"a name": testing.example({"etcd_name": "a"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
