# METADATA
# title: Every setting has the type that etcd reads
# description: |
#   etcd exits at the start on a value of a wrong type: a quota of "8G" is a text, and etcd wants the number of bytes.
# custom:
#   id: flags/wrong_type
#   severity: deny
#   fix: Write the value in the type that etcd reads
#   source: embed.Config of each release
package headroom.rules.flags.wrong_type

import data.headroom.clusters
import data.headroom.releases.spelling
import data.headroom.releases.value_types
import data.headroom.result

deny contains finding if some finding in result.findings("flags/wrong_type", problems)

problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	some entry in profile.etcd.given
	kind := spelling.type_of(profile.etcd.version, entry.form, entry.spelling)
	not spelling.is_readable(entry.form, kind, entry.value)
	text := sprintf("%s is %s, and etcd reads %s%s", [
		entry.name,
		json.marshal(entry.value),
		value_types.describe(entry.form, kind),
		value_types.hint(entry.value, kind),
	])
}
