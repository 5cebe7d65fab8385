# METADATA
# title: The newest backup is recent
# description: |
#   A cluster that has lost its majority is recovered from its newest snapshot, and loses all later writes. The audit
#   checks the directories in `-e backups=…` on all inspected hosts.
# custom:
#   id: live/backup_age
#   severity: warn
#   fix: Repair the backup job; the role etcd_maintenance takes a backup each day and tests a restore of it
#   fix_in_files: Repair the backup job
#   source: https://etcd.io/docs/v3.6/op-guide/recovery/#snapshotting-the-keyspace
package headroom.rules.live.backup_age

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result

warn contains finding if some finding in result.findings("live/backup_age", problems)

problems contains result.problem(host_profile, "backup_hours", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.backup_hours > threshold.backup_hours_max
	text := sprintf("the newest backup, %s, is %d hours old, over the limit of %d hours", [
		host_profile.names.backup_hours,
		host_profile.facts.backup_hours,
		threshold.backup_hours_max,
	])
}

problems contains result.problem(host_profile, "backup_missing", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.backup_missing
	text := sprintf("there is no backup in %s", [host_profile.names.backup_missing])
}
