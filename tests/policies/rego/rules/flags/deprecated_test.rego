package headroom_test.flags.deprecated

import data.headroom.rules.flags.deprecated as rule
import data.headroom.testing

bad := {
	"3.6": {"input": testing.example({"etcd_version": "3.6.16", "etcd_extra_config": {"experimental-compaction-batch-limit": 500}}), "texts": {`etcd-1: "experimental-compaction-batch-limit" (etcd_extra_config["experimental-compaction-batch-limit"]) is deprecated in etcd 3.6.16 and gone in the next minor release: use compaction-batch-limit`}},
	"in the environment": {"input": testing.environment({"ETCD_EXPERIMENTAL_MEMORY_MLOCK": "true"}), "texts": {`etcd-1: "ETCD_EXPERIMENTAL_MEMORY_MLOCK" (etcd_environment["ETCD_EXPERIMENTAL_MEMORY_MLOCK"]) is deprecated in etcd 3.6.16 and gone in the next minor release: use memory-mlock`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"3.5 knows no other": testing.example({"etcd_version": "3.5.35", "etcd_extra_config": {"experimental-compaction-batch-limit": 500}}),
	"the new name": testing.example({"etcd_version": "3.6.16", "etcd_extra_config": {"compaction-batch-limit": 500}}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
