package headroom_test.releases

import data.headroom.releases

test_series if {
	releases.series("3.6.16") == "3.6"
	not releases.series("3.8.0")
	not releases.series("3.6")
	not releases.series(3.6)
}

judged := [
	["3.6.16", "3.6.16"],
	["v3.6.5", "3.6.5"],
	["3.6.5-0", "3.6.5"],
	["3.6", "3.6.16"],
	["3.4.3", "3.5.35"],
	["2.3", "3.5.35"],
	["3.8.0", "3.7.3"],
	["4.0.0", "3.7.3"],
	["latest", null],
	[null, null],
]

test_nearest[text] if {
	some [written, expected] in judged
	text := sprintf("%v", [written])
	releases.nearest(written) == expected
}

test_gomemlimit_since if {
	releases.gomemlimit_since("3.4.3") == "3.4.25"
	releases.gomemlimit_since("3.3.27") == "3.5.8"
	releases.gomemlimit_since("3.6.16") == "3.6.0"
}

written_releases := [
	["3.5.21", "3.5.21"],
	["v3.5.21", "3.5.21"],
	["3.5.15-0", "3.5.15"],
	["3.5.21-debian-12-r3", "3.5.21"],
	["3.5", null],
	["latest", null],
	["v3.5.21.1", null],
	[3.5, null],
]

test_parse[text] if {
	some [written, expected] in written_releases
	text := sprintf("%v", [written])
	{expected} == {found | found := releases.parse(written)} | {null | not releases.parse(written)}
}
