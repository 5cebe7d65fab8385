package headroom_test.topology.same_name

import data.headroom.rules.topology.same_name as rule
import data.headroom.testing

bad := {
	"twice": {"input": testing.cluster(3, {"etcd_name": "a"}), "texts": {`etcd-1, etcd-2, etcd-3: 3 members of cluster "etcd" are called "a" (etcd_name)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.cluster(3, {}),
	"another rule": testing.cluster(3, {"etcd_name": "default"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
