package headroom_test.topology.election_refused

import data.headroom.rules.topology.election_refused as rule

# The finding points to the setting that the file has.
test_about if {
	compose := {"services": {"etcd": {"image": "etcd", "environment": {"ETCD_HEARTBEAT_INTERVAL": "500"}}}}
	{problem.about | some problem in rule.problems} == {"ETCD_HEARTBEAT_INTERVAL"} with input as [{"path": "compose.yml", "contents": compose}]
}
