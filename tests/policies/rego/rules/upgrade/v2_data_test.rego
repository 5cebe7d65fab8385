package headroom_test.upgrade.v2_data

import data.headroom.rules.upgrade.v2_data as rule
import data.headroom.testing

bad := {
	"on": {"input": testing.example({"etcd_version": "3.5.35", "etcd_extra_config": {"enable-v2": true}}), "texts": {`etcd-1: enable-v2 is on (etcd_extra_config["enable-v2"]), and 3.6 does not start on v2 data`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"off": testing.example({"etcd_version": "3.5.35", "etcd_extra_config": {"enable-v2": false}}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
