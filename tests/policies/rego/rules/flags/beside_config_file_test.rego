package headroom_test.flags.beside_config_file

import data.headroom.rules.flags.beside_config_file as rule
import data.headroom.testing

bad := {
	"in the environment": {"input": testing.environment({"ETCD_CONFIG_FILE": "/etc/etcd.yml", "ETCD_SNAPSHOT_COUNT": "500", "GOGC": "50"}), "texts": {`etcd-1: etcd is given a config file (etcd_environment["ETCD_CONFIG_FILE"]), so it passes over etcd_environment["ETCD_INITIAL_CLUSTER_STATE"], etcd_environment["ETCD_SNAPSHOT_COUNT"]`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"none": testing.environment({"ETCD_SNAPSHOT_COUNT": "500"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
