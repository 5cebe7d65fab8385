package headroom_test.memory.large_history

import data.headroom.rules.memory.large_history as rule
import data.headroom.testing

bad := {
	"50 of 50 KB": {"input": testing.example({"etcd_workload": {"value_size": "50KB", "revisions_per_key": 50}}), "texts": {`etcd-1: 50 versions (etcd_workload.revisions_per_key) of a value of 50.0 KiB are 2.4 MiB for each key, over 1.0 MiB`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"small": testing.example({"etcd_workload": {"value_size": "1KB", "revisions_per_key": 500}}),
	"one version": testing.example({"etcd_workload": {"value_size": "2MB", "revisions_per_key": 1}}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
