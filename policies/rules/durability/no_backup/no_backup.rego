# METADATA
# title: There is a backup
# description: |
#   A cluster that lost its majority comes back from a snapshot or not at all, and a key that was deleted is deleted on
#   all members. A backup that was never restored is a hope: try it.
# custom:
#   id: durability/no_backup
#   severity: warn
#   fix: Set etcd_maintenance_backup_enabled to true and restore one once, or see to it otherwise and waive this rule
#   source: https://etcd.io/docs/v3.6/op-guide/recovery/#snapshotting-the-keyspace
package headroom.rules.durability.no_backup

import data.headroom.clusters
import data.headroom.result
import data.headroom.told

warn contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

warn contains finding if {
	result.waiving
	some finding in result.waived(rego.metadata.chain(), _problems)
}

_problems := {problem |
	some place in clusters.places
	stated := place.facts.backup
	not told.true_like(stated)
	not "backup" in place.unknown
	problem := {
		"inventory": place.inventory,
		"hosts": place.hosts,
		"about": "etcd_maintenance_backup_enabled",
		"text": sprintf("nobody backs this member up (etcd_maintenance_backup_enabled is %s)", [_stated(stated)]),
	}
}

_stated(value) := "not set" if {
	value == null
} else := sprintf("%v", [value])
