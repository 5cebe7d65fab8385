# METADATA
# title: Releases of etcd
# description: What is known of a release by its number. Counterpart of plugins/module_utils/_model/releases.py.
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

# The release in a text such as "v3.5.21", "3.5.21-0" or an image's tag; undefined if there is none.
parse(text) := regex.find_all_string_submatch_n(_release, text, 1)[0][1] if is_string(text)

_release := `^v?((?:0|[1-9][0-9]{0,3})(?:\.(?:0|[1-9][0-9]{0,3})){2})(?:[-+_].*)?$`

# The release that the rules assume: the member's own, or the newest of the nearest series in the model. null if the version has no number.
nearest(version) := release if {
	release := parse(version)
	series(release)
} else := model.series[name].newest if {
	[_, major, minor] := regex.find_all_string_submatch_n(_leading_numbers, version, 1)[0]
	name := _nearest_series([to_number(major), to_number(minor)])
} else := null

_leading_numbers := `^v?([0-9]{1,4})\.([0-9]{1,4})(?:[^0-9]|$)`

_nearest_series(number) := sprintf("%d.%d", max([oldest_supported, min([number, _newest_series])]))

# The first release of a series that reads GOMEMLIMIT.
gomemlimit_since(version) := since if {
	since := model.older[_series_name(version)].gomemlimit_since
} else := model.series[series(nearest(version))].gomemlimit_since

_series_name(version) := concat(".", array.slice(split(version, "."), 0, 2))

# Config-file key → type; keys of a section are "section.key". Undefined for an unknown release.
config_keys(version) := model.series[series(version)].config_keys

# The bugs of a release, the most severe first. Each has `fixed`: the release with the fix, or null. Empty for an invalid release.
bugs(version) := [object.union(bug, {"fixed": span.fixed}) |
	release := parse(version)
	some bug in model.bugs
	some span in bug.ranges
	semver.compare(release, span.from) >= 0
	not _is_fixed(release, span.fixed)
]

# Why a release must not be upgraded to the next minor version.
upgrade_bugs(version) := [bug.text | some bug in bugs(version); bug.kind == "upgrade"]

# Whether two releases of known series are one minor version apart.
is_next_minor(older, newer) if {
	[major, minor, _] := numbers(older)
	[major, minor + 1] == array.slice(numbers(newer), 0, 2)
}

_is_fixed(version, fixed) if semver.compare(version, fixed) >= 0

# [major, minor, patch] of a full release number.
numbers(version) := [to_number(part) | some part in split(parse(version), ".")]

# [major, minor] of a release whose series no longer gets fixes; undefined for others.
end_of_life(version) := number if {
	number := _series_number(version)
	number < oldest_supported
}

_series_number(version) := [to_number(major), to_number(minor)] if {
	[_, major, minor] := regex.find_all_string_submatch_n(_leading_numbers, version, 1)[0]
}

# Whether a number is likely a release of etcd: of a series that etcd has published, from 2.0 on.
is_known(version) if {
	number := _series_number(version)
	number <= _newest_series
	not is_implausible(version)
}

# Whether a number below the newest series is hardly a release of etcd. Releases before 2.0 are rare, and 0.1 is often the tag of somebody's
# own image; after 2.3 came 3.0.
is_implausible(version) if _series_number(version) < [2, 0]

is_implausible(version) if {
	number := _series_number(version)
	number > [2, 3]
	number < [3, 0]
}

# [major, minor] of the oldest series that still gets fixes.
oldest_supported := min(_series_numbers)

_newest_series := max(_series_numbers)

_series_numbers := {[to_number(part) | some part in split(name, ".")] | some name, _ in model.series}
