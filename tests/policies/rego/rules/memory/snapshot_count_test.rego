package headroom_test.memory.snapshot_count

import data.headroom.rules.memory.snapshot_count as rule
import data.headroom.testing

bad := {
	"values times entries": {"input": testing.example({"etcd_snapshot_count": 100000}), "texts": {"etcd-1: snapshot-count is 100,000 (etcd_snapshot_count), with values of 10.0 KiB that is 976.6 MiB of log, more than 25 % of 2.0 GiB (etcd_memory_budget): a restart replays so much into memory"}},
	"the same on 3.5": {"input": testing.example({"etcd_version": "3.5.35", "etcd_snapshot_count": "100000"}), "texts": {"etcd-1: snapshot-count is 100,000 (etcd_snapshot_count), with values of 10.0 KiB that is 976.6 MiB of log, more than 25 % of 2.0 GiB (etcd_memory_budget): so much piles up in memory before it is dropped"}},
	"no workload": {"input": testing.plain({"etcd_snapshot_count": 50000}), "texts": {"etcd-1: snapshot-count is 50,000 (etcd_snapshot_count), over 10,000: a restart replays so much into memory"}},
	"the default of 3.5": {"input": testing.plain({"etcd_version": "3.5.35"}), "texts": {"etcd-1: snapshot-count is 100,000 (the default of 3.5), over 10,000: so much piles up in memory before it is dropped"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"the default of 3.6": testing.plain({}),
	"small values": testing.example({"etcd_workload": {"value_size": 100}, "etcd_snapshot_count": 100000}),
	"unknown": testing.plain({"etcd_version": "3.5.35", "etcd_snapshot_count": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
