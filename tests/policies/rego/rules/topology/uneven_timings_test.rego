package headroom_test.topology.uneven_timings

import data.headroom.rules.topology.uneven_timings as rule
import data.headroom.testing

bad := {
	"one differs": {"input": testing.mixed({}, {"etcd-1": {"etcd_election_timeout": 2000}}), "texts": {`etcd-1, etcd-2, etcd-3: cluster "main" mixes values of election-timeout: 1,000 (etcd-2, etcd-3) and 2,000 (etcd-1)`}},
	"heartbeat": {"input": testing.mixed({"etcd_heartbeat_interval": 50}, {"etcd-1": {"etcd_heartbeat_interval": 60}}), "texts": {`etcd-1, etcd-2, etcd-3: cluster "main" mixes values of heartbeat-interval: 50 (etcd-2, etcd-3) and 60 (etcd-1)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"all alike": testing.mixed({"etcd_election_timeout": 2000}, {}),
	"something else": testing.mixed({}, {"etcd-1": {"etcd_gogc": 50}}),
	"the default said": testing.mixed({}, {"etcd-1": {"etcd_election_timeout": "1000"}}),
	"unknown": testing.mixed({}, {"etcd-1": {"etcd_election_timeout": "{{ x }}"}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
