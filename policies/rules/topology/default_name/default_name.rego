# METADATA
# title: Each member has its own name
# description: |
#   Without a name, etcd calls a member "default". Two such members cannot be in one cluster, and one may take the
#   other's data directory for its own.
# custom:
#   id: topology/default_name
#   severity: deny
#   fix: Leave etcd_name out (it defaults to the host's name), or give each member its own name
#   fix_in_files: Give each member a name of its own, for example that of its host
#   source: https://etcd.io/docs/v3.6/op-guide/configuration/#member
package headroom.rules.topology.default_name

import data.headroom.clusters
import data.headroom.releases.spelling
import data.headroom.result

deny contains finding if some finding in result.findings("topology/default_name", problems)

problems contains problem if {
	some [inventory, host], "default" in clusters.names
	problem := {
		"inventory": inventory,
		"hosts": {host},
		"about": "etcd_name",
		"text": "the member is named \"default\" (etcd_name), as is every member without a name",
	}
}

# A member without a name, in a cluster that knows it as "default".
problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	not "name" in profile.etcd.unknown
	not "extra_config" in profile.etcd.unknown
	not _is_named(profile.etcd)
	some entry in profile.etcd.given
	regex.match(`^default=[^,]+$`, sprintf("%v", [entry.value]))
	spelling.setting(profile.etcd.release, entry.form, entry.spelling) == "initial_cluster"
	text := sprintf("the member is named \"default\" (%s), as is every member without a name", [entry.name])
}

_is_named(etcd) if {
	some entry in etcd.given
	spelling.setting(etcd.release, entry.form, entry.spelling) == "name"
}

# In a file that configures etcd.
problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	entry := [given |
		some given in profile.etcd.given
		given.value == "default"
		spelling.setting(profile.etcd.release, given.form, given.spelling) == "name"
	][0]
	text := sprintf("the member is named \"default\" (%s), as is every member without a name", [entry.name])
}
