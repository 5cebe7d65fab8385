# METADATA
# title: Each setting is set once
# description: |
#   etcd exits if a setting is given both as a flag and in the environment. In other combinations, one of the two
#   silently wins.
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
