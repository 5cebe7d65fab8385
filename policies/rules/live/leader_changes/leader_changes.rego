# METADATA
# title: The leader does not change often
# description: |
#   While a cluster elects a leader it accepts no write. Frequent elections mean that heartbeats are late: a slow disk, too little CPU, or the network.
# custom:
#   id: live/leader_changes
#   severity: warn
#   fix: Compare the members' disks and CPU, and the network between them (module etcd_disk_live_info; rule topology/election_ratio)
#   source: https://etcd.io/docs/v3.6/tuning/
package headroom.rules.live.leader_changes

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result

warn contains finding if some finding in result.findings("live/leader_changes", problems)

_day := 86400

problems contains result.problem(host_profile, "leader_changes", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.leader_changes > 0
	text := sprintf("the leader changed %s while the cluster was measured", [_times(host_profile.facts.leader_changes)])
}

# A member that started today counts as one that ran for a day.
problems contains result.problem(host_profile, "elections", text) if {
	some host_profile in clusters.host_profiles
	days := max([host_profile.facts.uptime, _day]) / _day
	host_profile.facts.elections > threshold.leader_changes_a_day * days
	text := sprintf("the leader changed %s since the member started %s ago, over %v a day", [
		_times(host_profile.facts.elections),
		host_profile.names.uptime,
		threshold.leader_changes_a_day,
	])
}

_times(number) := "once" if number == 1

else := sprintf("%d times", [number])
