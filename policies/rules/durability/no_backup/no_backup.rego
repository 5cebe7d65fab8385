# METADATA
# title: There is a backup, and it is restored
# description: |
#   A cluster that lost its majority comes back from a snapshot or not at all, and a key that was deleted is deleted on
#   all members. A backup that was never restored is a hope: drills try it.
# custom:
#   id: durability/no_backup
#   severity: warn
#   fix: Set etcd_maintenance_backup_dir and leave backups and drills on, or see to it otherwise and waive this rule
#   source: https://etcd.io/docs/v3.6/op-guide/recovery/#snapshotting-the-keyspace
package headroom.rules.durability.no_backup

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("durability/no_backup", problems)

problems contains result.problem(place, about, text) if {
	some place in clusters.host_profiles
	[about, text] := _missing(place)
}

# As role etcd_maintenance has it: on, but without a directory there are none, and drills follow backups.
_missing(place) := ["etcd_maintenance_backup_enabled", sprintf("nobody backs this member up (etcd_maintenance_backup_enabled is %v)", [place.facts.backup])] if {
	settings.is_false(place.facts.backup)
} else := ["etcd_maintenance_backup_dir", "nobody backs this member up (etcd_maintenance_backup_dir is not set, and without it no backups are taken)"] if {
	not "backup_dir" in place.unknown
	place.facts.backup_dir in {null, ""}
} else := ["etcd_maintenance_drill_enabled", sprintf("its backups are never restored (etcd_maintenance_drill_enabled is %v)", [place.facts.drill])] if {
	settings.is_false(place.facts.drill)
}
