package headroom_test.inventory.refused_file

import data.headroom.rules.inventory.refused_file as rule
import data.headroom.testing

bad := {
	"a list of hosts": {"input": array.concat(testing.example({}), [{"path": "inventory/more.yml", "contents": {"etcd": {"hosts": ["n1"]}}}]), "texts": {"inventory/more.yml: \"hosts\" of group \"etcd\" is neither a mapping nor a name"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
