package headroom_test.upgrade.zombie_members

import data.headroom.rules.upgrade.zombie_members as rule
import data.headroom.testing

bad := {
	"3.5.20 and 3.6": {"input": testing.mixed({"etcd_version": "3.6.16"}, {"etcd-1": {"etcd_version": "3.5.20"}}), "texts": {`etcd-1, etcd-2, etcd-3: cluster "main" goes from 3.5.20 to 3.6.16: an upgrade straight to 3.6 may bring removed members back; go to 3.5.26 or later first`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"3.5.26": testing.mixed({"etcd_version": "3.6.16"}, {"etcd-1": {"etcd_version": "3.5.26"}}),
	"within 3.5": testing.mixed({"etcd_version": "3.5.35"}, {"etcd-1": {"etcd_version": "3.5.20"}}),
	"no version": testing.mixed({}, {"etcd-1": {"etcd_version": "latest"}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
