# METADATA
# title: The release has no known vulnerability
# description: |
#   Some releases let clients act without the required permission. Only an upgrade fixes that. Vulnerabilities that
#   depend on a setting are reported only if it is set, and those of etcd's own users and roles not for a Kubernetes API
#   server, which does not use them, or with etcd_auth_enabled set to false. version/known_defects reports less serious ones.
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

problems contains result.with_upgrade(problem, profile.etcd.version) if {
	some profile in clusters.profiles
	not "version" in profile.etcd.unknown
	some bug in releases.bugs(profile.etcd.version)
	bug.kind == "security"
	bug.severity == "deny"
	bug.fixed != null
	condition := object.get(bug, "condition", {})
	every setting in object.get(condition, "settings", []) { profile.etcd.settings[setting] }
	auth := object.get(condition, "auth", false)
	hosts := clusters.concerned(profile, auth)
	count(hosts) > 0
	text := sprintf("etcd %s: %s; fixed in %s", [profile.etcd.version, bug.text, bug.fixed])
	problem := _qualified(result.problem(object.union(profile, {"hosts": hosts}), "etcd_version", text), auth)
}

_qualified(problem, false) := problem

_qualified(problem, true) := result.with_assumption(problem, "assuming that etcd's own users and roles are in use")
