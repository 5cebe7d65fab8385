# METADATA
# title: Every setting has the type that etcd expects
# description: |
#   etcd exits at start on a value of the wrong type: a quota of "8G" is a string, but etcd expects a number of bytes.
# custom:
#   id: flags/wrong_type
#   severity: deny
#   fix: Write the value in the type that etcd expects
#   source: embed.Config of each release
package headroom.rules.flags.wrong_type

import data.headroom.clusters
import data.headroom.releases.spelling
import data.headroom.releases.value_types
import data.headroom.result

deny contains finding if some finding in result.findings("flags/wrong_type", problems)

problems contains problem if {
	some profile in clusters.profiles
	some entry in profile.etcd.given
	kind := spelling.type_of(profile.etcd.release, entry.form, entry.spelling)
	not spelling.is_readable(entry.form, kind, entry.value)
	text := sprintf("%s is %s, but etcd expects %s%s", [
		entry.name,
		json.marshal(entry.value),
		value_types.describe(entry.form, kind),
		value_types.hint(entry.value, kind),
	])
	problem := _solvable(result.problem(profile, entry.name, text), entry.value, kind)
}

# Where the author's value is clear, the fix is that value.
_solvable(problem, value, kind) := result.with_value(problem, value_types.meant(value, kind)) if {
	value_types.meant(value, kind)
} else := problem
