package headroom_test.inventory.no_members

import data.headroom.rules.inventory.no_members as rule
import data.headroom.testing

bad := {
	"another group": {"input": [{"path": "inventory/hosts.yml", "contents": {"kv": {"hosts": {"n1": null}}}}], "texts": {"no host of group \"etcd\" can be seen in the YAML and JSON inventory files of inventory"}},
	"only group_vars": {"input": [{"path": "inventory/group_vars/etcd.yml", "contents": {"etcd_version": "3.7.3"}}], "texts": {"no host of group \"etcd\" can be seen in the YAML and JSON inventory files of inventory"}},
	"listed": {"input": {"_meta": {"hostvars": {"n1": {}}}, "all": {"hosts": ["n1"]}}, "texts": {"no host is in group \"etcd\""}},
	"nothing": {"input": [], "texts": {"there is no inventory in YAML or JSON here"}},
	"one of two": {"input": array.concat(testing.example({}), [{"path": "other/hosts.yml", "contents": {"all": null}}]), "texts": {"other: no host of group \"etcd\" can be seen in the YAML and JSON inventory files of other"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"etcd_group": [{"path": "hosts.yml", "contents": {"kv": {"hosts": {"n1": null}, "vars": {"etcd_group": "kv"}}}}],
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
