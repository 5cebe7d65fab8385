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

problems contains result.problem(place, "backup_hours", text) if {
	some place in clusters.host_profiles
	place.facts.backup_hours > threshold.backup_hours_max
	text := sprintf("the newest backup, %s, is %d hours old, over the limit of %d hours", [
		place.names.backup_hours,
		place.facts.backup_hours,
		threshold.backup_hours_max,
	])
}

problems contains result.problem(place, "backup_missing", text) if {
	some place in clusters.host_profiles
	place.facts.backup_missing
	text := sprintf("there is no backup in %s", [place.names.backup_missing])
}
