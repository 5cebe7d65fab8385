package headroom_test.topology.even_members

import data.headroom.rules.topology.even_members as rule
import data.headroom.testing

bad := {
	"four": {"input": testing.cluster(4, {"etcd_cluster_name": "main"}), "texts": {"X"}},
	"two": {"input": testing.cluster(2, {}), "texts": {"X"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"three": testing.cluster(3, {}),
	"which cluster is unknown": testing.cluster(4, {"etcd_cluster_name": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
