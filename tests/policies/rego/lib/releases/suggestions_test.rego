package headroom_test.releases.suggestions

import data.headroom.releases.suggestions

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
	["3.7.3", "env", "ETCD_QUOTA_BACKEND_SIZE", "; the nearest that it knows is ETCD_QUOTA_BACKEND_BYTES"],
	["3.7.3", "env", "ETCD_PORT", ""],
	["3.7.3", "env", "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK", "; use feature-gates: InitialCorruptCheck=true"],
	["3.7.3", "flag", "enable-v2", "; the v2 API is gone since 3.6"],
	["3.7.3", "key", "completely-different", ""],
	["3.7.3", "key", "q", ""],
	["3.4.3", "flag", "experimental-memory-mlock", ""],
]

test_remedy[note] if {
	some [version, form, key, text] in remedies
	note := sprintf("%s %s %s", [version, form, key])
	suggestions.remedy(version, {"form": form, "spelling": key}) == text
}
