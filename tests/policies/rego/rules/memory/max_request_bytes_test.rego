package headroom_test.memory.max_request_bytes

import data.headroom.rules.memory.max_request_bytes as rule
import data.headroom.testing

bad := {
	"10 MB": {"input": testing.example({"etcd_max_request_bytes": "10MB"}), "texts": {`etcd-1: etcd_max_request_bytes is 10.0 MiB, over 1.5 MiB`}},
	"as etcd's own key": {"input": testing.example({"etcd_extra_config": {"max-request-bytes": 10485760}}), "texts": {`etcd-1: etcd_extra_config["max-request-bytes"] is 10.0 MiB, over 1.5 MiB`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"the default": testing.example({"etcd_max_request_bytes": 1572864}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
