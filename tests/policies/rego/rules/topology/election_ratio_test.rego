package headroom_test.topology.election_ratio

import data.headroom.rules.topology.election_ratio as rule
import data.headroom.testing

bad := {
	"five times": {"input": testing.example({"etcd_heartbeat_interval": 1000, "etcd_election_timeout": 5000}), "texts": {`etcd-1: election-timeout is 5000 ms (etcd_election_timeout), under 10 times the heartbeat-interval of 1000 ms (etcd_heartbeat_interval)`}},
	"one is the default": {"input": testing.example({"etcd_heartbeat_interval": "150"}), "texts": {`etcd-1: election-timeout is 1000 ms (the default of 3.7), under 10 times the heartbeat-interval of 150 ms (etcd_heartbeat_interval)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"ten times": testing.example({"etcd_heartbeat_interval": 300, "etcd_election_timeout": 3000}),
	"refused": testing.example({"etcd_heartbeat_interval": 1000}),
	"unknown": testing.example({"etcd_heartbeat_interval": 500, "etcd_election_timeout": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
