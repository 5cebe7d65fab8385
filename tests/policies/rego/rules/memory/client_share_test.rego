package headroom_test.memory.client_share

import data.headroom.rules.memory.client_share as rule
import data.headroom.testing

bad := {
	"connections": {"input": testing.example({"etcd_workload": {"clients": 20000, "watch_streams": 20000, "watchers": 5}}), "texts": {`etcd-1: 20,000 connections, 20,000 watch streams and 5 watchers (etcd_workload) take up to SIZE of SIZE (etcd_memory_budget), more than 25 %`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.shapes(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"more memory": testing.example({"etcd_memory_budget": "64GB", "etcd_workload": {"clients": 20000, "watch_streams": 20000}}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}

test_each_takes_less if {
	every constants in data.headroom.model.constants {
		every part in ["connection", "connection_tls", "watch_stream", "watcher"] { constants[part] < rule.each }
	}
}
