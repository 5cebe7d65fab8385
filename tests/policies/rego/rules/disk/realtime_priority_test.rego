package headroom_test.disk.realtime_priority

import data.headroom.rules.disk.realtime_priority as rule
import data.headroom.testing

bad := {
	"with nice": {"input": testing.example({"etcd_io_scheduling_class": "realtime", "etcd_nice": -20}), "texts": {`etcd-1: the I/O class is realtime (etcd_io_scheduling_class is realtime) and the nice value -20 (etcd_nice)`}},
	"a number": {"input": testing.example({"etcd_io_scheduling_class": 1}), "texts": {`etcd-1: the I/O class is realtime (etcd_io_scheduling_class is 1)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"best effort": testing.example({"etcd_io_scheduling_class": "best-effort", "etcd_nice": -5}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
