# METADATA
# title: Every member answers
# description: |
#   A member that does not answer is missing from the majority, and the next failure may stop the cluster.
# custom:
#   id: live/unhealthy
#   severity: deny
#   fix: Read the journal of the member; if its data or host is lost, replace it (playbook replace)
#   source: https://etcd.io/docs/v3.6/op-guide/failures/
package headroom.rules.live.unhealthy

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("live/unhealthy", problems)

problems contains result.problem(host_profile, "healthy", text) if {
	some host_profile in clusters.host_profiles
	settings.is_false(host_profile.facts.healthy)
	text := sprintf("the member is not healthy: %s", [host_profile.names.healthy])
}
