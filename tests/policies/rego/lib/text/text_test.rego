package headroom_test.text

import data.headroom.text

shown := [[12600, "12,600"], [-5, "-5"], [1.5, "1.5"], ["8G", "8G"], [true, "true"]]

test_value[expected] if {
	some [value, expected] in shown
	text.value(value) == expected
}

test_hosts if {
	text.hosts({"a", "b", "c", "d"}) == "a, b, c, d"
	text.hosts({"a", "b", "c", "d", "e"}) == "a, b, c and 2 more"
}

test_nearest if {
	text.nearest("max-wal", {"max-wals", "max-snapshots"}) == "max-wals"
	not text.nearest("q", {"max-wals"})
	not text.nearest("entirely-different", {"max-wals"})
}
