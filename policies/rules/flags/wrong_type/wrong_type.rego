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
import data.headroom.flags
import data.headroom.result

deny contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

_problems := {problem |
	some profile in clusters.profiles
	some key, value in flags.settings(profile.etcd)
	kind := flags.known(profile.etcd.version)[key]
	not flags.has_type(value, kind)
	problem := {
		"inventory": profile.inventory,
		"hosts": profile.hosts,
		"about": "etcd_extra_config",
		"text": sprintf("etcd_extra_config[%q] is %s, and etcd reads %s%s", [
			key,
			json.marshal(value),
			flags.type_name(kind),
			flags.type_hint(value, kind),
		]),
	}
}
