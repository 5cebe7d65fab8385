package headroom_test.flags

import data.headroom.flags

typed := [
	["text", "string", true],
	[1, "string", false],
	[["a"], "strings", true],
	[["a", 1], "strings", false],
	["a", "strings", false],
	[true, "bool", true],
	["true", "bool", false],
	[1, "int", true],
	[-1, "int", true],
	[1.5, "int", false],
	["8G", "int", false],
	[-1, "uint", false],
	[1, "uint", true],
	[10, "duration", true],
	["10s", "duration", false],
]

test_has_type[note] if {
	some [value, kind, expected] in typed
	note := sprintf("%v as %s", [value, kind])
	{expected} == {true | flags.has_type(value, kind)} | {false | not flags.has_type(value, kind)}
}

test_type_hint if {
	flags.type_hint("8G", "int") == ": that is 8589934592"
	flags.type_hint("10s", "duration") == ": that is 10000000000"
	flags.type_hint("big", "int") == ""
	flags.type_hint(5, "string") == ""
}

remedies := [
	["3.7.3", "experimental-memory-mlock", ": use memory-mlock"],
	["3.5.35", "snapshot-catchup-entries", ": here it is called experimental-snapshot-catch-up-entries"],
	["3.5.35", "experimental-snapshot-catchup-entries", ": here it is called experimental-snapshot-catch-up-entries"],
	["3.6.16", "experimental-snapshot-catchup-entries", ": in a config file of 3.6 this spelling resets the value to 5000; use snapshot-catchup-entries"],
	["3.5.35", "quota_backend_bytes", ": here it is called quota-backend-bytes"],
	["3.5.35", "client-crl-file", ": it is a flag only, and the config file has no key for it"],
	["3.5.35", "discovery-endpoints", ": 3.5 has none"],
	["3.7.3", "max-wal", "; the nearest that it knows is max-wals"],
	["3.7.3", "snapshot-counter", "; the nearest that it knows is snapshot-count"],
	["3.7.3", "completely-different", ""],
	["3.7.3", "q", ""],
]

test_remedy[key] if {
	some [version, key, text] in remedies
	flags.remedy(version, key) == text
}

test_settings if {
	etcd := {"version": "3.7.3", "extra_config": {
		"max-wals": 5,
		"client-transport-security": {"cert-file": "x"},
		"peer-transport-security": null,
		"other": {"a": 1},
	}}
	flags.settings(etcd) == {
		"max-wals": 5,
		"client-transport-security.cert-file": "x",
		"peer-transport-security": null,
		"other": {"a": 1},
	}
}
