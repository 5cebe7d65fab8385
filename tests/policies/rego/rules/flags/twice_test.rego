package headroom_test.flags.twice

import data.headroom.rules.flags.twice as rule
import data.headroom.testing

bad := {
	"pinned and extra": {"input": testing.example({"etcd_snapshot_count": 5000, "etcd_extra_config": {"snapshot-count": 6000}}), "texts": {`etcd-1: snapshot-count is set 2 times: etcd_snapshot_count and etcd_extra_config["snapshot-count"]`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"once": testing.example({"etcd_snapshot_count": 5000, "etcd_extra_config": {"max-wals": 6}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
