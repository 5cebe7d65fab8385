package headroom_test.waiver.expired

import data.headroom.rules.waiver.expired as rule
import data.headroom.testing

# tests/policies/rego/lib/waivers/waivers_test.rego has the cases; these are the ways to the finding and past it.
_file(waiver) := array.concat(
	testing.example({"etcd_maintenance_backup_enabled": false}),
	[{"path": "inventory/.waivers.yml", "contents": {"waivers": [object.union(
		{"rule": "durability/no_backup", "group": "etcd", "reason": "volumes are copied", "expires": "2099-12-31"},
		waiver,
	)]}}],
)

bad := {
	"the finding": {"input": _file({"expires": "2025-06-30"}), "texts": {`inventory/.waivers.yml: waiver 1 for durability/no_backup expired on 2025-06-30 (volumes are copied)`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

test_good if {
	found := rule.deny with input as _file({})
	count(found) == 0
}
