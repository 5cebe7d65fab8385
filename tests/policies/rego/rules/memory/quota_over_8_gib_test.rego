package headroom_test.memory.quota_over_8_gib

import data.headroom.rules.memory.quota_over_8_gib as rule
import data.headroom.testing

bad := {
	"variable": {"input": testing.example({"etcd_quota_backend_bytes": "9GB"}), "texts": {"etcd-1: a quota of 9.0 GiB (etcd_quota_backend_bytes) is over 8.0 GiB"}},
	"own key": {"input": testing.example({"etcd_extra_config": {"quota-backend-bytes": 8589934593}}), "texts": {"etcd-1: a quota of 8.0 GiB (etcd_extra_config[\"quota-backend-bytes\"]) is over 8.0 GiB"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"just 8 GiB": testing.example({"etcd_quota_backend_bytes": "8GB"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
