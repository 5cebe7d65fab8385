package headroom_test.version.unknown

import data.headroom.rules.version.unknown as rule
import data.headroom.testing

bad := {
	"no patch": {"input": testing.example({"etcd_version": "3.7"}), "texts": {`etcd-1: etcd_version is 3.7, which names no release; name a full one, such as 3.7.3, the newest that is known of 3.7`}},
	"a number": {"input": testing.example({"etcd_version": 3.6}), "texts": {`etcd-1: etcd_version is 3.6, which names no release; name a full one, such as 3.6.16, the newest that is known of 3.6`}},
	"with a v": {"input": testing.example({"etcd_version": "v3.6.5"}), "texts": {`etcd-1: etcd_version is v3.6.5, written without the v: 3.6.5`}},
	"the future": {"input": testing.example({"etcd_version": "4.0.0"}), "texts": {`etcd-1: etcd_version is 4.0.0, of a series that is not known; the newest that are: 3.5.35, 3.6.16, 3.7.3`}},
	"latest": {"input": testing.example({"etcd_version": "latest"}), "texts": {`etcd-1: etcd_version is latest, which is no release; the newest that are known: 3.5.35, 3.6.16, 3.7.3`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"unknown": testing.example({"etcd_version": "{{ x }}"}),
	"old": testing.example({"etcd_version": "3.4.27"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
