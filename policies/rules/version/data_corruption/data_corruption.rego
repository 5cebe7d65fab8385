# METADATA
# title: The release does not corrupt data
# description: |
#   Some releases lose or corrupt data under load, after a kill, or during a defragmentation. No setting avoids that;
#   only an upgrade does.
# custom:
#   id: version/data_corruption
#   severity: deny
#   with: [version/vulnerable, version/known_defects]
#   fix: Upgrade to the newest release of the series, one member at a time, before anything else
#   source: https://github.com/etcd-io/etcd/tree/main/CHANGELOG and the postmortem of 3.5.0-3.5.2
package headroom.rules.version.data_corruption

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result

deny contains finding if some finding in result.findings("version/data_corruption", problems)

problems contains result.with_upgrade(result.problem(profile, "etcd_version", text), profile.etcd.version) if {
	some profile in clusters.profiles
	not "version" in profile.etcd.unknown
	bugs := [sprintf("%s (%s)%s", [bug.text, bug.id, _fixed(bug.fixed)]) |
		some bug in releases.bugs(profile.etcd.version)
		bug.kind == "data"
		bug.severity == "deny"
	]
	count(bugs) > 0
	text := sprintf("etcd %s: %s", [profile.etcd.version, concat("; and ", bugs)])
}

_fixed(fixed) := sprintf("; fixed in %s", [fixed]) if fixed != null

_fixed(null) := ""
