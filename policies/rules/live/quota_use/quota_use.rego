# METADATA
# title: The database is well below its quota
# description: |
#   At its quota etcd sets the alarm NOSPACE and refuses all writes until someone compacts and defragments.
# custom:
#   id: live/quota_use
#   severity: warn
#   fix: Find what fills it (module etcd_keyspace_info), compact and defragment, or raise quota-backend-bytes
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#space-quota
package headroom.rules.live.quota_use

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("live/quota_use", problems)

problems contains result.problem(host_profile, "db_size", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.quota > 0
	host_profile.facts.db_size * 1000 >= host_profile.facts.quota * threshold.quota_use_permille
	text := sprintf("the database has %s, %d %% of its quota of %s", [
		units.format_size(host_profile.facts.db_size),
		floor((host_profile.facts.db_size * 100) / host_profile.facts.quota),
		units.format_size(host_profile.facts.quota),
	])
}
