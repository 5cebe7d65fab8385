# METADATA
# title: A setting is set once
# description: |
#   etcd exits if the same setting comes as a flag and in its environment. Elsewhere one of the two is lost, and which one
#   is hard to remember.
# custom:
#   id: flags/twice
#   severity: deny
#   fix: Set it in one place
#   source: https://github.com/etcd-io/etcd/blob/main/pkg/flags/flag.go (SetFlagsFromEnv)
package headroom.rules.flags.twice

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("flags/twice", problems)

problems contains result.problem(profile, places[0], text) if {
	some profile in clusters.profiles
	some setting, places in profile.etcd.twice
	text := sprintf("%s is set %d times: %s", [replace(setting, "_", "-"), count(places), concat(" and ", places)])
}
