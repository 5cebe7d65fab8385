package headroom_test.releases.suggestions

import data.headroom.releases.suggestions
import data.headroom.releases.value_types

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
	{expected} == {true | value_types.has_type(value, kind)} | {false | not value_types.has_type(value, kind)}
}

test_type_hint if {
	value_types.hint("8G", "int") == ": that is 8589934592"
	value_types.hint("10s", "duration") == ": that is 10000000000"
	value_types.hint("big", "int") == ""
	value_types.hint(5, "string") == ""
}

test_type_name if {
	value_types.describe("key", "duration") == "a whole number of nanoseconds"
	value_types.describe("flag", "duration") == "a duration with its unit, such as 10s"
}

remedies := [
	["3.7.3", "key", "experimental-memory-mlock", "; use memory-mlock"],
	["3.5.35", "key", "snapshot-catchup-entries", "; here it is called experimental-snapshot-catch-up-entries"],
	["3.5.35", "flag", "snapshot-catchup-entries", "; here it is called experimental-snapshot-catchup-entries"],
	["3.5.35", "env", "ETCD_SNAPSHOT_CATCHUP_ENTRIES", "; here it is called ETCD_EXPERIMENTAL_SNAPSHOT_CATCHUP_ENTRIES"],
	["3.5.35", "key", "experimental-snapshot-catchup-entries", "; here it is called experimental-snapshot-catch-up-entries"],
	["3.6.16", "key", "experimental-snapshot-catchup-entries", "; in a config file of 3.6 this spelling resets the value to 5000; use snapshot-catchup-entries"],
	["3.5.35", "key", "quota_backend_bytes", "; here it is called quota-backend-bytes"],
	["3.5.35", "key", "client-crl-file", "; it is a flag only, and the config file has no key for it"],
	["3.5.35", "key", "discovery-endpoints", "; 3.5 has none"],
	["3.7.3", "key", "max-wal", "; the nearest that it knows is max-wals"],
	["3.7.3", "env", "ETCD_SNAPSHOT_COUNTER", "; the nearest that it knows is ETCD_SNAPSHOT_COUNT"],
	["3.7.3", "env", "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK", "; use feature-gates: InitialCorruptCheck=true"],
	["3.7.3", "flag", "enable-v2", "; the v2 API is gone since 3.6"],
	["3.7.3", "key", "completely-different", ""],
	["3.7.3", "key", "q", ""],
]

test_remedy[note] if {
	some [version, form, key, text] in remedies
	note := sprintf("%s %s %s", [version, form, key])
	suggestions.remedy(version, {"form": form, "spelling": key}) == text
}
