# METADATA
# title: The version is a release that is known
# description: |
#   What a release calls its settings, what it defaults to and what it needs differs; without a full release number
#   nothing of that can be checked. In YAML a number such as 3.10 is 3.1: quote it.
# custom:
#   id: version/unknown
#   severity: deny
#   fix: Write a full release number in quotes
#   source: model/releases.yml
package headroom.rules.version.unknown

import data.headroom.clusters
import data.headroom.model
import data.headroom.releases
import data.headroom.result

deny contains finding if some finding in result.findings("version/unknown", problems)

problems contains result.problem(profile, "etcd_version", text) if {
	some profile in clusters.profiles
	version := profile.etcd.version
	not "version" in profile.etcd.unknown
	version != null
	not releases.series(version)

	# That is version/end_of_life's.
	not releases.end_of_life(version)
	text := sprintf("etcd_version is %s, %s", [version, _what(version)])
}

_newest := concat(", ", [release.newest | some release in model.series])

_what(version) := sprintf("written without the v: %s", [bare]) if {
	bare := trim_prefix(version, "v")
	startswith(version, "v")
	releases.series(bare)
} else := sprintf("which names no release; name a full one, such as %s, the newest that is known of %s", [newest, version]) if {
	newest := model.series[version].newest
} else := sprintf("of a series that is not known; the newest that are: %s", [_newest]) if {
	regex.match(`^[0-9]+\.[0-9]+\.[0-9]+$`, version)
} else := sprintf("which is no release; the newest that are known: %s", [_newest])
