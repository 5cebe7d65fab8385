# METADATA
# title: The release has no known defects that a newer one fixed
# description: |
#   Patch releases fix stale reads, lost watch events, members that cannot be added, and lesser vulnerabilities. This
#   rule names the most serious defects that affect the member. It skips defects of users and roles if the client is
#   known to be a Kubernetes API server, which does not use them, or if etcd_auth_enabled is false.
# custom:
#   id: version/known_defects
#   severity: warn
#   fix: Upgrade to the newest release of the series, one member at a time; https://github.com/etcdops/headroom/blob/main/docs/policies/defects.md lists all defects
#   source: docs/policies/defects.md, from CHANGELOG-3.5.md, CHANGELOG-3.6.md and CHANGELOG-3.7.md
package headroom.rules.version.known_defects

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result

warn contains finding if some finding in result.findings("version/known_defects", problems)

problems contains problem if {
	some profile in clusters.profiles
	not "version" in profile.etcd.unknown
	bugs := [bug |
		some bug in releases.bugs(profile.etcd.version)
		bug.kind != "upgrade"
		bug.severity == "warn"
		bug.fixed != null
		_concerns(profile, object.get(bug, "condition", {}))
	]
	count(bugs) > 0
	texts := [sprintf("%s (fixed in %s)", [bug.text, bug.fixed]) | some bug in bugs]
	text := sprintf("etcd %s: %s%s", [
		profile.etcd.version,
		concat("; ", array.slice(texts, 0, _shown)),
		_more(count(texts) - _shown),
	])
	solvable := result.with_upgrade(result.problem(profile, "etcd_version", text), profile.etcd.version)
	problem := _qualified(solvable, bugs)
}

_qualified(problem, bugs) := result.assuming(problem, "etcd's own users and roles may be in use") if {
	some bug in bugs
	bug.condition.auth
} else := problem

_shown := 3

_concerns(profile, condition) if {
	count(clusters.concerned(profile, object.get(condition, "auth", false))) > 0
	profile.members <= object.get(condition, "max_members", profile.members)
}

_more(number) := "" if number <= 0

_more(number) := sprintf("; and %d more", [number]) if number > 0
