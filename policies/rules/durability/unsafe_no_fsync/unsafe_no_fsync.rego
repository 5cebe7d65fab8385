# METADATA
# title: What is acknowledged is on disk
# description: |
#   unsafe-no-fsync acknowledges writes that are in memory only. A host that loses power then comes back with a log that
#   has holes, and etcd cannot join its own cluster with it.
# custom:
#   id: durability/unsafe_no_fsync
#   severity: deny
#   fix: Remove unsafe-no-fsync, and use a faster disk if fsync is the trouble
#   source: https://etcd.io/docs/v3.6/op-guide/configuration/#unsafe-features
package headroom.rules.durability.unsafe_no_fsync

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("durability/unsafe_no_fsync", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	name := profile.etcd.names.unsafe_no_fsync
	settings.is_true(profile.etcd.settings.unsafe_no_fsync)
	text := sprintf("unsafe-no-fsync is on (%s): a loss of power loses writes that were acknowledged", [name])
}
