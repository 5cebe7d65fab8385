package headroom_test.releases

import data.headroom.releases

test_series if {
	releases.series("3.6.16") == "3.6"
	not releases.series("3.8.0")
	not releases.series("3.6")
	not releases.series(3.6)
}
