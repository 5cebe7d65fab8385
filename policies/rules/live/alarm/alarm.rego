# METADATA
# title: No alarm is set
# description: |
#   NOSPACE makes a cluster refuse all writes. CORRUPT means that members have different data; it also makes the cluster refuse writes.
# custom:
#   id: live/alarm
#   severity: deny
#   fix: After NOSPACE compact, defragment and disarm it (playbook nospace); after CORRUPT replace the member that differs (playbook replace)
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#space-quota
package headroom.rules.live.alarm

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("live/alarm", problems)

problems contains result.problem(host_profile, "alarms", text) if {
	some host_profile in clusters.host_profiles
	some alarm in host_profile.facts.alarms
	text := sprintf("the alarm %s is set", [alarm])
}
