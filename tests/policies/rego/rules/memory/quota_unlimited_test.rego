package headroom_test.memory.quota_unlimited

import data.headroom.rules.memory.quota_unlimited as rule
import data.headroom.testing

bad := {
	"minus one": {"input": testing.plain({"etcd_quota_backend_bytes": -1}), "texts": {`etcd-1: etcd_quota_backend_bytes is -1: no quota at all, so the database grows until the disk is full`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"a size": testing.example({"etcd_quota_backend_bytes": "2GB"}),
	"the default": testing.example({"etcd_quota_backend_bytes": 0}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
