package headroom_test.version.vulnerable

import data.headroom.rules.version.vulnerable as rule
import data.headroom.testing

bad := {
	"3.6.8": {"input": testing.example({"etcd_version": "3.6.8"}), "texts": {`etcd-1: etcd 3.6.8: vulnerable to CVE-2026-33413 and CVE-2026-33343; fixed in 3.6.9`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"3.6.9": testing.example({"etcd_version": "3.6.9"}),
	"no version": testing.example({"etcd_version": "latest"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
