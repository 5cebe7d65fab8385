package headroom_test.memory.quota_unset

import data.headroom.rules.memory.quota_unset as rule
import data.headroom.testing

bad := {
	"nothing set": {"input": testing.plain({}), "texts": {"etcd-1: quota-backend-bytes is not set, so etcd's default of 2.0 GiB ends all writes"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"set": testing.plain({"etcd_quota_backend_bytes": "4GB"}),
	"as etcd's own key": testing.plain({"etcd_extra_config": {"quota-backend-bytes": 4294967296}}),
	"unknown": testing.plain({"etcd_quota_backend_bytes": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
