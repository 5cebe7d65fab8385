package headroom_test.inventory.unknown_value

import data.headroom.rules.inventory.unknown_value as rule
import data.headroom.testing

bad := {
	"a template": {"input": testing.example({"etcd_workload": {"keys": "{{ x }}"}}), "texts": {"etcd-1: etcd_workload is not known (a template inside), and rules that need it are silent"}},
	"the cluster's name": {"input": testing.cluster(1, {"etcd_cluster_name": "{{ x }}"}), "texts": {"etcd-1: etcd_cluster_name is not known (a template), and rules that need it are silent"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"nothing to do with etcd": testing.example({"motd": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
