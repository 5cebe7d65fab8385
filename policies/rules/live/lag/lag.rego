# METADATA
# title: Members keep up with the leader
# description: |
#   A member that is far behind answers serializable reads with old values, and needs a snapshot of the whole database once the leader has
#   dropped the missing entries.
# custom:
#   id: live/lag
#   severity: warn
#   fix: Compare its disk and CPU with those of the other members (module etcd_disk_live_info)
#   source: https://etcd.io/docs/v3.6/tuning/
package headroom.rules.live.lag

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("live/lag", problems)

problems contains result.problem(host_profile, "lag", message) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.lag > threshold.lag_entries
	message := sprintf("the member is %s raft entries behind, over %s", [units.format_count(host_profile.facts.lag), units.format_count(threshold.lag_entries)])
}
