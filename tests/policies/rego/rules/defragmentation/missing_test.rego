package headroom_test.defragmentation.missing

import data.headroom.rules.defragmentation.missing as rule
import data.headroom.testing

bad := {
	"a text": {"input": testing.plain({"etcd_maintenance_defrag_enabled": "no"}), "texts": {"etcd-1: nobody defragments this member (etcd_maintenance_defrag_enabled is no)"}},
	"off": {"input": testing.example({"etcd_maintenance_defrag_enabled": false}), "texts": {"etcd-1: nobody defragments this member (etcd_maintenance_defrag_enabled is false)"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"the role's default": testing.plain({}),
	"a text": testing.example({"etcd_maintenance_defrag_enabled": "True"}),
	"unknown": testing.example({"etcd_maintenance_defrag_enabled": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
