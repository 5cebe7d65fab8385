# METADATA
# title: Acknowledged writes are on disk
# description: |
#   With unsafe-no-fsync, etcd acknowledges writes that are only in memory. After a power loss the log has holes, and
#   the member cannot rejoin its cluster.
# custom:
#   id: durability/unsafe_no_fsync
#   severity: deny
#   fix: Remove unsafe-no-fsync; if fsync is too slow, use a faster disk
#   source: https://etcd.io/docs/v3.6/op-guide/configuration/#unsafe-features
package headroom.rules.durability.unsafe_no_fsync

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("durability/unsafe_no_fsync", problems)

problems contains result.with_value(result.problem(profile, name, text), false) if {
	some profile in clusters.profiles
	name := profile.etcd.names.unsafe_no_fsync
	settings.is_true(profile.etcd.settings.unsafe_no_fsync)
	text := sprintf("unsafe-no-fsync is %s (%s), so a power loss loses acknowledged writes", [_state(profile.etcd.settings.unsafe_no_fsync), name])
}

# flags/wrong_type reports a string such as "yes", which etcd refuses.
_state(value) := "on" if {
	is_boolean(value)
} else := sprintf("%v, meant as on", [value])
