package headroom_test.version.data_corruption

import data.headroom.rules.version.data_corruption as rule
import data.headroom.testing

# A bug that no release has fixed yet.
test_not_fixed if {
	bugs := [{"id": "some-bug", "kind": "data", "severity": "deny", "text": "it loses data", "ranges": [{"from": "3.7.0", "fixed": null}]}]
	found := testing.texts(rule.deny) with input as testing.example({}) with data.headroom.model.bugs as bugs
	found == {"etcd-1: etcd 3.7.3: it loses data (some-bug)"}
}
