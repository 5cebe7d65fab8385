package headroom_test.memory.catchup_too_few

import data.headroom.rules.memory.catchup_too_few as rule
import data.headroom.testing

bad := {
	"three members": {"input": testing.cluster(3, {"etcd_snapshot_catchup_entries": 10}), "texts": {`etcd-1, etcd-2, etcd-3: etcd_snapshot_catchup_entries is 10 in a cluster of 3 members, under 100: a follower that blinks is sent the whole database`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"one member": testing.example({"etcd_snapshot_catchup_entries": 1}),
	"enough": testing.cluster(3, {"etcd_snapshot_catchup_entries": 100}),
	"zero is the default": testing.cluster(3, {"etcd_snapshot_catchup_entries": 0}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
