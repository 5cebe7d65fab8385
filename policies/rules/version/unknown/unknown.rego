# METADATA
# title: The version is a known release
# description: |
#   Releases differ in the names, the defaults and the requirements of their settings; without a full release number
#   none of these can be checked. YAML reads the number 3.10 as 3.1: quote it.
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

	# version/end_of_life reports these.
	not releases.end_of_life(version)
	text := sprintf("etcd_version is %s, %s%s", [version, _what(version), _treated(profile.etcd.release)])
}

_treated(release) := sprintf("; the rules treat it as %s", [release]) if {
	release != null
} else := ""

_newest := concat(", ", [release.newest | some release in model.series])

_what(version) := sprintf("which has a leading v; write %s", [bare]) if {
	bare := trim_prefix(version, "v")
	startswith(version, "v")
	releases.series(bare)
} else := sprintf("which is not a full release number, such as %s, the newest known release of %s", [newest, version]) if {
	newest := model.series[version].newest
} else := sprintf("of an unknown series; the newest known releases are %s", [_newest]) if {
	regex.match(`^[0-9]+\.[0-9]+\.[0-9]+$`, version)
} else := sprintf("which is not a release; the newest known releases are %s", [_newest])
