package headroom_test.memory.snapshot_count_no_effect

import data.headroom.rules.memory.snapshot_count_no_effect as rule
import data.headroom.testing

bad := {
	"lowered on 3.6": {"input": testing.plain({"etcd_snapshot_count": 1000}), "texts": {`etcd-1: etcd_snapshot_count is 1,000, which saves no memory on etcd 3.6.16 while it runs: 5,000 entries are kept for slow followers (snapshot-catchup-entries, not set)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"3.5": testing.plain({"etcd_version": "3.5.35", "etcd_snapshot_count": 1000}),
	"both": testing.plain({"etcd_snapshot_count": 1000, "etcd_snapshot_catchup_entries": 500}),
	"perhaps both": testing.plain({"etcd_snapshot_count": 1000, "etcd_extra_config": "{{ x }}"}),
	"planned": testing.example({"etcd_snapshot_count": 1000}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
