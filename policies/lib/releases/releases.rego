# METADATA
# title: Releases of etcd
# description: What rules about versions ask of a release, in the form in which an inventory names it.
package headroom.releases

import data.headroom.model

# The series of a full release number, "3.6" for "3.6.16"; undefined if it is unknown.
series(version) := name if {
	is_string(version)
	regex.match(`^(0|[1-9][0-9]{0,3})(\.(0|[1-9][0-9]{0,3})){2}$`, version)
	[major, minor, _] := split(version, ".")
	name := concat(".", [major, minor])
	model.series[name]
}

# The bugs that a release has, each with the release that it is `fixed` in, null where there is none yet. Empty for an invalid release.
bugs(version) := {object.union(bug, {"fixed": span.fixed}) |
	semver.is_valid(version)
	some bug in model.bugs
	some span in bug.ranges
	semver.compare(version, span.from) >= 0
	not _reached(version, span.fixed)
}

_reached(version, fixed) if semver.compare(version, fixed) >= 0

# A release of a known series as numbers.
numbers(version) := [to_number(part) | some part in split(version, ".")] if series(version)

# [major, minor] of a release whose series gets no fixes any more.
outlived(version) := number if {
	[_, major, minor] := regex.find_all_string_submatch_n(`^v?([0-9]{1,4})\.([0-9]{1,4})(?:\.|$)`, version, 1)[0]
	number := [to_number(major), to_number(minor)]
	number < oldest
}

# The oldest series that does.
oldest := min({[to_number(part) | some part in split(name, ".")] | some name, _ in model.series})
