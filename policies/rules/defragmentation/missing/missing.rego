# METADATA
# title: Free pages are given back
# description: |
#   Compaction only marks pages as free. They count against the quota, and they stay in the file, until the member is
#   defragmented.
# custom:
#   id: defragmentation/missing
#   severity: warn
#   fix: Set etcd_maintenance_defrag_enabled to true, or see to it otherwise and waive this rule
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#defragmentation
package headroom.rules.defragmentation.missing

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

warn contains finding if {
	result.waiving
	some finding in result.waived(rego.metadata.chain(), _problems)
}

_problems := {problem |
	some place in clusters.places
	stated := place.facts.defragmentation
	not _true(stated)
	not "defragmentation" in place.unknown
	problem := {
		"inventory": place.inventory,
		"hosts": place.hosts,
		"about": "etcd_maintenance_defrag_enabled",
		"text": sprintf("nobody defragments this member (etcd_maintenance_defrag_enabled is %s)", [_stated(stated)]),
	}
}

# As Ansible's `bool` filter reads it: INI files give texts.
_true(value) if lower(sprintf("%v", [value])) in {"true", "yes", "on", "1"}

_stated(value) := "not set" if {
	value == null
} else := sprintf("%v", [value])
