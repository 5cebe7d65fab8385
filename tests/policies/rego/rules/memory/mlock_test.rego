package headroom_test.memory.mlock

import data.headroom.rules.memory.mlock as rule
import data.headroom.testing

# A service that locks its database, within these limits.
service(ulimits, environment) := [{"path": "docker-compose.yml", "contents": {"services": {"etcd": {
	"image": "quay.io/coreos/etcd:v3.7.3",
	"ulimits": ulimits,
	"environment": object.union({"ETCD_MEMORY_MLOCK": "true"}, environment),
}}}}]

bad := {
	"a number": {"input": service({"memlock": 67108864}, {}), "texts": {"docker-compose.yml: etcd: ETCD_MEMORY_MLOCK is on, and the container may lock 64.0 MiB (ulimits.memlock), less than a quota of 2.0 GiB"}},
	"soft and hard": {"input": service({"memlock": {"soft": 1048576, "hard": -1}}, {}), "texts": {"docker-compose.yml: etcd: ETCD_MEMORY_MLOCK is on, and the container may lock 1.0 MiB (ulimits.memlock), less than a quota of 2.0 GiB"}},
	"with a quota": {"input": service({"memlock": 2147483648}, {"ETCD_QUOTA_BACKEND_BYTES": "4294967296"}), "texts": {"docker-compose.yml: etcd: ETCD_MEMORY_MLOCK is on, and the container may lock 2.0 GiB (ulimits.memlock), less than a quota of 4.0 GiB"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"Headroom's unit raises the limit": testing.example({"etcd_extra_config": {"memory-mlock": true}}),
	"off": service({"memlock": 67108864}, {"ETCD_MEMORY_MLOCK": "false"}),
	"enough": service({"memlock": 2147483648}, {}),
	"no bound": service({"memlock": {"soft": -1, "hard": -1}}, {}),
	"not said": service({"nofile": 65536}, {}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
