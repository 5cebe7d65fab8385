package headroom_test.memory.catchup_below_writes

import data.headroom.rules.memory.catchup_below_writes as rule
import data.headroom.testing

bad := {
	"ten seconds": {"input": testing.cluster(3, {"etcd_snapshot_catchup_entries": 1000, "etcd_workload": {"puts_per_second": 100}}), "texts": {`etcd-1, etcd-2, etcd-3: etcd_snapshot_catchup_entries is 1,000, at 100 writes a second 10 s of them, under 30 s`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"enough": testing.cluster(3, {"etcd_snapshot_catchup_entries": 3000, "etcd_workload": {"puts_per_second": 100}}),
	"rate unknown": testing.cluster(3, {"etcd_snapshot_catchup_entries": 1000}),
	"one member": testing.example({"etcd_snapshot_catchup_entries": 100, "etcd_workload": {"puts_per_second": 100}}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
