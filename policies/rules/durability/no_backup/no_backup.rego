# METADATA
# title: Backups are taken, and drills restore them
# description: |
#   A cluster that has lost its majority can only be recovered from a snapshot, and a key that was deleted is deleted on
#   all members. A backup that was never restored may not work: drills test it.
# custom:
#   id: durability/no_backup
#   severity: warn
#   fix: Set etcd_maintenance_backup_dir and leave backups and drills on, or back up by other means and waive this rule
#   source: https://etcd.io/docs/v3.6/op-guide/recovery/#snapshotting-the-keyspace
package headroom.rules.durability.no_backup

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("durability/no_backup", problems)

problems contains result.problem(host_profile, about, text) if {
	some host_profile in clusters.host_profiles
	[about, text] := _missing(host_profile)
}

# The defaults of the role etcd_maintenance: backups are on but need a directory, and drills follow the backups.
_missing(host_profile) := ["etcd_maintenance_backup_enabled", text] if {
	settings.is_false(host_profile.facts.backup)
	text := sprintf("this member is not backed up (etcd_maintenance_backup_enabled is %v)", [host_profile.facts.backup])
} else := ["etcd_maintenance_backup_dir", "this member is not backed up (etcd_maintenance_backup_dir is not set)"] if {
	not "backup_dir" in host_profile.unknown
	host_profile.facts.backup_dir in {null, ""}
} else := ["etcd_maintenance_drill_enabled", text] if {
	settings.is_false(host_profile.facts.drill)
	text := sprintf("no drill restores its backups (etcd_maintenance_drill_enabled is %v)", [host_profile.facts.drill])
}
