package headroom_test.topology.even_members

import data.headroom.rules.topology.even_members as rule
import data.headroom.testing

bad := {
	"four": {"input": testing.cluster(4, {"etcd_cluster_name": "main"}), "texts": {"etcd-1, etcd-2, etcd-3, etcd-4: cluster \"main\" has 4 members, which tolerate no more failures than 3"}},
	"two": {"input": testing.cluster(2, {}), "texts": {"etcd-1, etcd-2: cluster \"etcd\" has 2 members, which tolerate no more failures than 1"}},
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
