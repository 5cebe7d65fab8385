package headroom_test.topology.election_refused

import data.headroom.rules.topology.election_refused as rule
import data.headroom.testing

bad := {
	"below five": {"input": testing.example({"etcd_heartbeat_interval": 500}), "texts": {`etcd-1: election-timeout is 1000 ms (the default of 3.7), under five times the heartbeat-interval of 500 ms (etcd_heartbeat_interval): etcd does not start`}},
	"a minute": {"input": testing.example({"etcd_election_timeout": 60000}), "texts": {`etcd-1: election-timeout is 60000 ms (etcd_election_timeout), over 50 s: etcd does not start`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"five times": testing.example({"etcd_heartbeat_interval": 200}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
