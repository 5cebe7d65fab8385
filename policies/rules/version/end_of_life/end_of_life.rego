# METADATA
# title: The series still gets fixes
# description: |
#   A series that is not maintained any more keeps its bugs, those that lose data among them, and its open CVEs.
# custom:
#   id: version/end_of_life
#   severity: deny
#   fix: Upgrade, one minor version at a time
#   source: https://etcd.io/docs/v3.6/op-guide/versioning/
package headroom.rules.version.end_of_life

import data.headroom.clusters
import data.headroom.model
import data.headroom.result

deny contains finding if some finding in result.findings("version/end_of_life", problems)

problems contains result.problem(profile, "etcd_version", text) if {
	some profile in clusters.profiles
	not "version" in profile.etcd.unknown
	[_, major, minor] := regex.find_all_string_submatch_n(`^v?([0-9]{1,4})\.([0-9]{1,4})(?:\.|$)`, profile.etcd.version, 1)[0]
	number := [to_number(major), to_number(minor)]
	every other in _maintained { number < other }
	text := sprintf("etcd %s is of series %d.%d, which gets no fixes any more; the oldest that does is %s", [profile.etcd.version, number[0], number[1], concat(".", [sprintf("%d", [part]) | some part in min(_maintained)])])
}

_maintained := {[to_number(part) | some part in split(series, ".")] | some series, _ in model.series}
