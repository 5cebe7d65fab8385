package headroom_test.releases.spelling

import data.headroom.releases.spelling

spelt := [
	["3.5.35", "flag", "experimental-snapshot-catchup-entries", "snapshot_catchup_entries"],
	["3.5.35", "env", "ETCD_EXPERIMENTAL_SNAPSHOT_CATCHUP_ENTRIES", "snapshot_catchup_entries"],
	["3.5.35", "key", "experimental-snapshot-catch-up-entries", "snapshot_catchup_entries"],
	["3.5.35", "flag", "experimental-snapshot-catch-up-entries", null],
	["3.5.35", "flag", "snapshot-catchup-entries", null],
	["3.6.16", "flag", "snapshot-catchup-entries", "snapshot_catchup_entries"],
	["3.6.16", "flag", "experimental-snapshot-catchup-entries", "snapshot_catchup_entries"],
	["3.6.16", "env", "ETCD_EXPERIMENTAL_MEMORY_MLOCK", "memory_mlock"],
	["3.6.16", "key", "experimental-snapshot-catchup-entries", null],
	["3.7.3", "env", "ETCD_EXPERIMENTAL_MEMORY_MLOCK", null],
	["3.7.3", "env", "ETCD_SNAPSHOT_COUNTER", null],
	["3.7.3", "env", "GOMEMLIMIT", "gomemlimit"],
	["3.7.3", "key", "client-transport-security.cert-file", "cert_file"],
	[null, "env", "ETCD_EXPERIMENTAL_MEMORY_MLOCK", "memory_mlock"],
	[null, "flag", "no-such-flag", null],
]

test_setting[note] if {
	some [version, form, text, name] in spelt
	note := sprintf("%v %s %s", [version, form, text])
	{name} == {found | found := spelling.setting(version, form, text)} | {null | not spelling.setting(version, form, text)}
}

knowledge := [
	["3.5.35", "flag", "enable-v2", true],
	["3.6.16", "flag", "enable-v2", false],
	["3.5.35", "env", "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK", true],
	["3.7.3", "env", "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK", false],
	["3.7.3", "env", "ETCD_UNSUPPORTED_ARCH", true],
	["3.7.3", "env", "GOGC", true],
	["3.7.3", "flag", "config-file", true],
	["3.7.3", "key", "config-file", false],
	[null, "flag", "enable-v2", true],
	[null, "env", "ETCD_SNAPSHOT_COUNTER", false],
	["3.4.30", "flag", "enable-v2", true],
	["3.4.30", "key", "debug", true],
	["3.4.30", "env", "ETCD_LOG_OUTPUT", true],
	["3.4.30", "flag", "experimental-memory-mlock", false],
	["3.3.10", "key", "client-transport-security.ca-file", true],
	["3.3.10", "key", "log-level", false],
	["3.5.35", "key", "proxy", true],
	["3.5.35", "key", "debug", false],
	["3.6.16", "key", "proxy", false],
	["2.3.8", "flag", "debug", true],
]

test_known[note] if {
	some [version, form, text, expected] in knowledge
	note := sprintf("%v %s %s", [version, form, text])
	{expected} == {true | spelling.is_known(version, form, text)} | {false | not spelling.is_known(version, form, text)}
}

kinds := [
	["3.7.3", "key", "client-transport-security.auto-tls", "bool"],
	["3.7.3", "flag", "quota-backend-bytes", "int"],
	["3.5.35", "env", "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK", "bool"],
	["3.5.35", "flag", "experimental-initial-corrupt-check", "bool"],
	[null, "key", "quota-backend-bytes", "int"],
]

test_kind[text] if {
	some [version, form, text, kind] in kinds
	spelling.type_of(version, form, text) == kind
}

readings := [
	["key", "int", 5, true],
	["key", "int", "5", false],
	["env", "int", "-1", true],
	["env", "int", 8589934592, true],
	["env", "int", "8G", false],
	["env", "uint", "-1", false],
	["env", "uint", "5", true],
	["env", "uint", "0", true],
	["env", "uint", "10_000", true],
	["flag", "int", "0x80000000", true],
	["flag", "int", "0b1_0", true],
	["flag", "int", "0o17", true],
	["flag", "int", "010", true],
	["flag", "int", "08", false],
	["flag", "int", "1__0", false],
	["flag", "bool", "true", true],
	["flag", "bool", true, true],
	["flag", "bool", "yes", false],
	["flag", "bool", "F", true],
	["flag", "duration", "10s", true],
	["flag", "duration", "0", true],
	["flag", "duration", "10", false],
	["env", "string", null, true],
	["env", "strings", "a,b", true],
]

test_readable[note] if {
	some [form, kind, value, expected] in readings
	note := sprintf("%s %s %v", [form, kind, value])
	{expected} == {true | spelling.is_readable(form, kind, value)} | {false | not spelling.is_readable(form, kind, value)}
}

values := [
	["key", "quota_backend_bytes", "8G", "8G"],
	["env", "quota_backend_bytes", "8589934592", 8589934592],
	["env", "quota_backend_bytes", "-1", -1],
	["env", "quota_backend_bytes", "8_589_934_592", 8589934592],
	["env", "quota_backend_bytes", "0x4_0000_000A", 17179869194],
	["flag", "quota_backend_bytes", "-0B11", -3],
	["flag", "snapshot_count", "0o17", 15],
	["flag", "snapshot_count", "017", 15],
	["flag", "snapshot_count", "-0x1", "-0x1"],
	["env", "quota_backend_bytes", "0x", "0x"],
	["env", "quota_backend_bytes", "8G", "8G"],
	["env", "quota_backend_bytes", `"8589934592"`, 8589934592],
	["env", "listen_client_urls", `"http://a:2379"`, "http://a:2379"],
	["env", "memory_mlock", `"true"`, true],
	["env", "memory_mlock", "T", true],
	["env", "memory_mlock", false, false],
	["env", "memory_mlock", "yes", "yes"],
	["flag", "auto_compaction_retention", 8, "8"],
]

test_value_of[note] if {
	some [form, name, value, expected] in values
	note := sprintf("%s %s %v", [form, name, value])
	spelling.value_of(form, name, value) == expected
}
