package headroom_test.inventory.patterns

import data.headroom.inventory.patterns

expanded := {
	"n1": {"n1"},
	"n[1:3]": {"n1", "n2", "n3"},
	"n[:2]": {"n0", "n1", "n2"},
	"[08:10]": {"08", "09", "10"},
	"[1:9:4]x": {"1x", "5x", "9x"},
	"[a:c]": {"a", "b", "c"},
	"[y:B]": {"y", "z", "A", "B"},
	"a[1:2]b[1:2].x": {"a1b1.x", "a1b2.x", "a2b1.x", "a2b2.x"},
	"n1:22": {"n1"},
	"n[1:2]:022": {"n1", "n2"},
	"10.0.0.[1:2]": {"10.0.0.1", "10.0.0.2"},
	"[2001:db8::1]:22": {"2001:db8::1"},
	"2001:db8::1": {"2001:db8::1"},
	"n_:22": {"n_:22"},
}

test_hosts[pattern] if {
	some pattern, hosts in expanded
	patterns.hosts(pattern) == hosts
	patterns.size(pattern) == count(hosts)
}

refused := ["n[1]", "n[1:", "n[3:1]", "n[08:9]", "n[1:]", "n[1:5:0]", "[a:1]", "[1:2][1:2][1:2][1:2][1:2]", "n]1:2[", "[1:9999999]", "[1:300][1:300][1:2]"]

test_refused[pattern] if {
	some pattern in refused
	not patterns.hosts(pattern)
	not patterns.size(pattern)
}

ports := {"n1:22": 22, "n1": 0, "n[1:2]:22": 22, "[2001:db8::1]:22": 22, "n_:22": 0}

test_port[pattern] if {
	some pattern, port in ports
	patterns.address(pattern).port == port
}
