# METADATA
# title: Members have the same data
# description: |
#   If members differ, the same read returns different results, and a new member may copy the wrong data.
# custom:
#   id: live/hash_mismatch
#   severity: deny
#   fix: Stop writes, take a snapshot of each member, and replace the member that differs (playbook replace; docs/membership.md, "Rebuild a corrupt member")
#   source: https://etcd.io/docs/v3.6/op-guide/data_corruption/
package headroom.rules.live.hash_mismatch

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("live/hash_mismatch", problems)

problems contains result.problem(host_profile, "same_hash", host_profile.names.same_hash) if {
	some host_profile in clusters.host_profiles
	settings.is_false(host_profile.facts.same_hash)
}
