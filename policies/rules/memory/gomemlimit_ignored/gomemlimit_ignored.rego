# METADATA
# title: GOMEMLIMIT has an effect
# description: |
#   GOMEMLIMIT came with Go 1.19. Releases of etcd before 3.5.8 were built with an older Go, which silently ignores it.
# custom:
#   id: memory/gomemlimit_ignored
#   severity: deny
#   with: [version/data_corruption, version/vulnerable, version/known_defects]
#   fix: Upgrade to the newest release of the series, or set GOGC instead
#   source: https://go.dev/doc/go1.19#runtime; CHANGELOG-3.5.md for the Go version of each release
package headroom.rules.memory.gomemlimit_ignored

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result

deny contains finding if some finding in result.findings("memory/gomemlimit_ignored", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	name := profile.etcd.names.gomemlimit
	since := releases.gomemlimit_since(profile.etcd.version)
	semver.compare(releases.parse(profile.etcd.version), since) < 0
	text := sprintf("%s is %v, but etcd %s ignores it: it needs %s or newer", [name, profile.etcd.settings.gomemlimit, profile.etcd.version, since])
}
