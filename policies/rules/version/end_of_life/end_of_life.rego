# METADATA
# title: The series is maintained
# description: |
#   A series that is no longer maintained keeps its bugs, including those that lose data, and its open CVEs.
# custom:
#   id: version/end_of_life
#   severity: deny
#   fix: Upgrade, one minor version at a time
#   source: https://etcd.io/docs/v3.6/op-guide/versioning/
package headroom.rules.version.end_of_life

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result

deny contains finding if some finding in result.findings("version/end_of_life", problems)

problems contains result.problem(profile, "etcd_version", text) if {
	some profile in clusters.profiles
	not "version" in profile.etcd.unknown
	[major, minor] := releases.end_of_life(profile.etcd.version)
	text := sprintf("etcd %s belongs to series %d.%d, which is no longer maintained; the oldest maintained series is %d.%d, whose rules apply here", [
		profile.etcd.version,
		major,
		minor,
		releases.oldest_supported[0],
		releases.oldest_supported[1],
	])
}
