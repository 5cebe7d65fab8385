package headroom_test.version.watch_leak

import data.headroom.rules.version.watch_leak as rule
import data.headroom.testing

bad := {
	"3.7.0": {"input": testing.example({"etcd_version": "3.7.0"}), "texts": {`etcd-1: etcd 3.7.0: a watch may show keys that its user may not read; fixed in 3.7.1`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"3.6.14": testing.example({"etcd_version": "3.6.14"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
