package headroom_test.releases

import data.headroom.releases

test_series if {
	releases.series("3.6.16") == "3.6"
	not releases.series("3.8.0")
	not releases.series("3.6")
	not releases.series(3.6)
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
