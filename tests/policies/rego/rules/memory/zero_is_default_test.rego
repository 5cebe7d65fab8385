package headroom_test.memory.zero_is_default

import data.headroom.rules.memory.zero_is_default as rule
import data.headroom.testing

bad := {
	"catch-up": {"input": testing.example({"etcd_snapshot_catchup_entries": 0}), "texts": {`etcd-1: etcd_snapshot_catchup_entries is 0, which etcd 3.7.3 takes for its default of 5,000`}},
	"snapshot count on 3.5": {"input": testing.plain({"etcd_version": "3.5.35", "etcd_snapshot_count": "0"}), "texts": {`etcd-1: etcd_snapshot_count is 0, which etcd 3.5.35 takes for its default of 100,000`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"one": testing.example({"etcd_snapshot_catchup_entries": 1}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
