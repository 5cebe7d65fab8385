package headroom_test.upgrade.skipped_minor

import data.headroom.rules.upgrade.skipped_minor as rule
import data.headroom.testing

bad := {
	"3.5 and 3.7": {"input": testing.mixed({}, {"etcd-1": {"etcd_version": "3.5.35"}}), "texts": {`etcd-1, etcd-2, etcd-3: cluster "main" spans 3.5.35 and 3.7.3, more than one minor version apart`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"one step": testing.mixed({}, {"etcd-1": {"etcd_version": "3.6.16"}}),
	"no version": testing.mixed({}, {"etcd-1": {"etcd_version": "latest"}}),
	"all alike": testing.mixed({}, {}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
