package headroom_test.flags.unknown_setting

import data.headroom.rules.flags.unknown_setting as rule
import data.headroom.testing

bad := {
	"removed": {"input": testing.example({"etcd_extra_config": {"experimental-memory-mlock": true}}), "texts": {`etcd-1: etcd 3.7.3 knows no setting "experimental-memory-mlock" (etcd_extra_config["experimental-memory-mlock"]): etcd passes over it in silence; use memory-mlock`}},
	"spelt as in another version": {"input": testing.example({"etcd_version": "3.5.35", "etcd_extra_config": {"snapshot-catchup-entries": 100}}), "texts": {`etcd-1: etcd 3.5.35 knows no setting "snapshot-catchup-entries" (etcd_extra_config["snapshot-catchup-entries"]): etcd passes over it in silence; here it is called experimental-snapshot-catch-up-entries`}},
	"in a section": {"input": testing.example({"etcd_extra_config": {"client-transport-security": {"cert-fil": "x"}}}), "texts": {`etcd-1: etcd 3.7.3 knows no setting "client-transport-security.cert-fil" (etcd_extra_config["client-transport-security"]["cert-fil"]): etcd passes over it in silence; the nearest that it knows is client-transport-security.cert-file`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"known": testing.example({"etcd_extra_config": {"max-wals": 5, "client-transport-security": {"cert-file": "x"}}}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}

# A file that does not state the release: what some release knows may be right.
test_without_release if {
	document := {"path": "etcd.env", "contents": {"ETCD_LISTEN_CLIENT_URLS": "x", "ETCD_ENABLE_V2": "true", "ETCD_SNAPSHOT_COUNTER": "5"}}
	found := rule.deny with input as [document]
	testing.texts(found) == {`etcd.env: etcd: etcd, whatever its release, knows no setting "ETCD_SNAPSHOT_COUNTER" (ETCD_SNAPSHOT_COUNTER): etcd starts without it`}
}
