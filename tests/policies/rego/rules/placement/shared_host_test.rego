package headroom_test.placement.shared_host

import data.headroom.rules.placement.shared_host as rule
import data.headroom.testing

bad := {
	"a worker": {"input": array.concat(testing.example({}), [{"path": "inventory/more.yml", "contents": {"kube-node": {"hosts": {"etcd-1": null, "n1": null}}}}]), "texts": {`etcd-1: also in group "kube-node", whose work takes memory and disk from etcd`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"others": array.concat(testing.example({}), [{"path": "inventory/more.yml", "contents": {"kube_node": {"hosts": {"n1": null}}, "monitored": {"hosts": {"etcd-1": null}}}}]),
	"etcd_group itself": [{"path": "inventory/hosts.yml", "contents": {"worker": {"hosts": {"n1": null}, "vars": {"etcd_group": "worker"}}}}],
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
