package headroom_test.version.mixed

import data.headroom.rules.version.mixed as rule
import data.headroom.testing

bad := {
	"two": {"input": testing.mixed({}, {"etcd-1": {"etcd_version": "3.7.2"}}), "texts": {`etcd-1, etcd-2, etcd-3: cluster "main" mixes releases: 3.7.2 (etcd-1) and 3.7.3 (etcd-2, etcd-3)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"one": testing.mixed({}, {}),
	"unknown": testing.mixed({}, {"etcd-1": {"etcd_version": "{{ x }}"}}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
