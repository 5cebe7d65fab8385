package headroom_test.durability.no_backup

import data.headroom.rules.durability.no_backup as rule
import data.headroom.testing

bad := {
	"not set": {"input": testing.plain({}), "texts": {`etcd-1: nobody backs this member up (etcd_maintenance_backup_dir is not set, and without it no backups are taken)`}},
	"no directory": {"input": testing.example({"etcd_maintenance_backup_enabled": true, "etcd_maintenance_backup_dir": ""}), "texts": {`etcd-1: nobody backs this member up (etcd_maintenance_backup_dir is not set, and without it no backups are taken)`}},
	"never restored": {"input": testing.example({"etcd_maintenance_drill_enabled": false}), "texts": {`etcd-1: its backups are never restored (etcd_maintenance_drill_enabled is false)`}},
	"off": {"input": testing.example({"etcd_maintenance_backup_enabled": "no"}), "texts": {`etcd-1: nobody backs this member up (etcd_maintenance_backup_enabled is no)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"unknown": testing.example({"etcd_maintenance_backup_enabled": "{{ x }}"}),
	"a directory that is not known": testing.example({"etcd_maintenance_backup_dir": "{{ x }}"}),
	"another role's inventory": testing.environment({}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
