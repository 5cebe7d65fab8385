package headroom_test.security.auto_tls

import data.headroom.rules.security.auto_tls as rule
import data.headroom.testing

bad := {
	"clients": {"input": testing.example({"etcd_extra_config": {"client-transport-security": {"auto-tls": true}}}), "texts": {`etcd-1: auto-tls is on (etcd_extra_config["client-transport-security"]["auto-tls"]): nobody can check who answers`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"off": testing.example({"etcd_extra_config": {"peer-transport-security": {"auto-tls": false}}}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
