package headroom_test.memory.mlock

import data.headroom.rules.memory.mlock as rule
import data.headroom.testing

bad := {
	"Headroom's unit": {"input": testing.example({"etcd_extra_config": {"memory-mlock": true}}), "texts": {`etcd-1: etcd_extra_config["memory-mlock"] is on, and the unit may lock 8.0 MiB (LimitMEMLOCK), less than a quota of 2.0 GiB`}},
	"with a quota": {"input": testing.example({"etcd_memory_mlock": "yes", "etcd_quota_backend_bytes": "4GB"}), "texts": {`etcd-1: etcd_memory_mlock is on, and the unit may lock 8.0 MiB (LimitMEMLOCK), less than a quota of 4.0 GiB`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"off": testing.example({"etcd_extra_config": {"memory-mlock": false}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
