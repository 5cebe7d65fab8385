# METADATA
# title: Each setting is set once
# description: |
#   etcd exits if a setting is given both as a flag and in the environment. 3.6 also exits if an experimental-* setting is beside the
#   setting or the feature gate that replaces it. If a flag is repeated, etcd silently uses the last value. In other
#   combinations, one of the two values also wins silently. Role etcd refuses settings in etcd_extra_config that it sets itself,
#   such as heartbeat-interval.
# custom:
#   id: flags/twice
#   severity: deny
#   fix: Set it in one place
#   source: https://github.com/etcd-io/etcd/blob/main/pkg/flags/flag.go (SetFlagsFromEnv)
package headroom.rules.flags.twice

import data.headroom.clusters
import data.headroom.model
import data.headroom.result

deny contains finding if some finding in result.findings("flags/twice", problems)

# One line for a member.
problems contains result.problem(profile, profile.etcd.twice[settings[0]][0], text) if {
	some profile in clusters.profiles
	settings := sort(object.keys(profile.etcd.twice))
	text := sprintf("%s%s", [_text(settings[0], profile.etcd.twice), _others(array.slice(settings, 1, count(settings)))])
}

problems contains problem if {
	some profile in clusters.profiles
	some name, entry in profile.etcd.owned
	text := sprintf("%s is a setting of the role, which refuses it there: %s", [entry.name, entry.instead])
	problem := _solvable(result.problem(profile, entry.name, text), name, entry.value)
}

# Where the role's variable takes the same value.
_solvable(problem, name, value) := result.with_value(problem, value) if {
	name in model.role_settings.same
} else := problem

# All places of a repeated flag have its name.
_text(setting, twice) := sprintf("%s is given %d times with different values, and etcd takes the last one", [twice[setting][0], count(twice[setting])]) if {
	count({place | some place in twice[setting]}) == 1
} else := sprintf("%s is set %d times: %s", [replace(setting, "_", "-"), count(twice[setting]), concat(" and ", twice[setting])])

_others([]) := ""

_others(settings) := sprintf("; the same holds for %s", [concat(", ", [replace(setting, "_", "-") | some setting in settings])]) if count(settings) > 0
