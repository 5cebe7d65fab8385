# METADATA
# title: The release has no known vulnerability
# description: |
#   Some releases let clients act without the required permission. Only an upgrade fixes that. Vulnerabilities that
#   depend on a setting are reported only if it is set. version/known_defects reports less serious ones.
# custom:
#   id: version/vulnerable
#   severity: deny
#   with: [version/known_defects]
#   fix: Upgrade to the newest release of the series, one member at a time
#   source: https://github.com/etcd-io/etcd/security/advisories, and docs/policies/defects.md
package headroom.rules.version.vulnerable

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result

deny contains finding if some finding in result.findings("version/vulnerable", problems)

problems contains result.with_upgrade(result.problem(profile, "etcd_version", text), profile.etcd.version) if {
	some profile in clusters.profiles
	not "version" in profile.etcd.unknown
	some bug in releases.bugs(profile.etcd.version)
	bug.kind == "security"
	bug.severity == "deny"
	bug.fixed != null
	every setting in object.get(bug, ["condition", "settings"], []) { profile.etcd.settings[setting] }
	text := sprintf("etcd %s: %s; fixed in %s", [profile.etcd.version, bug.text, bug.fixed])
}
