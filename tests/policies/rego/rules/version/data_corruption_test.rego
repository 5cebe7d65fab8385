package headroom_test.version.data_corruption

import data.headroom.rules.version.data_corruption as rule
import data.headroom.testing

bad := {
	"3.5.2": {"input": testing.example({"etcd_version": "3.5.2"}), "texts": {"etcd-1: etcd 3.5.2: a defragmentation while a snapshot is applied may corrupt the database (corruption-defrag-snapshot); fixed in 3.5.23", "etcd-1: etcd 3.5.2: a member killed under load may come back with data that differs from the others' (corruption-3.5.0); fixed in 3.5.3"}},
	"3.6.4": {"input": testing.example({"etcd_version": "3.6.4"}), "texts": {"etcd-1: etcd 3.6.4: a defragmentation while a snapshot is applied may corrupt the database (corruption-defrag-snapshot); fixed in 3.6.5"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"3.6.5": testing.example({"etcd_version": "3.6.5"}),
	"3.5.35": testing.example({"etcd_version": "3.5.35"}),
	"no version": testing.example({"etcd_version": "latest"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}

# A bug that no release has fixed yet.
test_not_fixed if {
	bugs := [{"id": "some-bug", "severity": "deny", "text": "it loses data", "ranges": [{"from": "3.7.0", "fixed": null}]}]
	found := testing.texts(rule.deny) with input as testing.example({}) with data.headroom.model.bugs as bugs
	found == {"etcd-1: etcd 3.7.3: it loses data (some-bug)"}
}
