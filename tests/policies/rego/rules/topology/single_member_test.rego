package headroom_test.topology.single_member

import data.headroom.rules.topology.single_member as rule
import data.headroom.testing

bad := {
	"one": {"input": testing.cluster(1, {"etcd_cluster_name": "main"}), "texts": {`etcd-1: cluster "main" has one member, etcd-1: every restart is an outage, and its disk the only copy`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"three": testing.cluster(3, {}),
	"two": testing.cluster(2, {}),
	"which cluster is unknown": testing.cluster(1, {"etcd_cluster_name": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
