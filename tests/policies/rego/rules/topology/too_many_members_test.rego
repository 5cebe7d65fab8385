package headroom_test.topology.too_many_members

import data.headroom.rules.topology.too_many_members as rule
import data.headroom.testing

bad := {
	"nine": {"input": testing.cluster(9, {}), "texts": {`etcd-1, etcd-2, etcd-3 and 6 more: cluster "etcd" has 9 members, over 7: every write waits for a majority of them`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"three": testing.cluster(3, {}),
	"seven": testing.cluster(7, {}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
