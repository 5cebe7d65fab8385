package headroom_test.inventory.unread_file

import data.headroom.rules.inventory.unread_file as rule
import data.headroom.testing

bad := {
	"a vault": {"input": array.concat(testing.example({}), [{"path": "inventory/group_vars/all.yml", "contents": "$ANSIBLE_VAULT;1.1;AES256"}]), "texts": {"inventory/group_vars/all.yml is encrypted as a whole"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
