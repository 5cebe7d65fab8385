package headroom_test.memory.gomemlimit_unset

import data.headroom.rules.memory.gomemlimit_unset as rule
import data.headroom.testing

bad := {
	"a limit": {"input": testing.plain({"etcd_memory_max": "4GB"}), "texts": {`etcd-1: the limit is 4.0 GiB (etcd_memory_max) and GOMEMLIMIT is not set, so the heap may grow to twice what lives in it`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"set": testing.plain({"etcd_memory_max": "4GB", "etcd_gomemlimit": "3GB"}),
	"too old": testing.plain({"etcd_version": "3.5.7", "etcd_memory_max": "4GB"}),
	"no limit": testing.plain({}),
	"unknown": testing.plain({"etcd_memory_max": "4GB", "etcd_gomemlimit": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
