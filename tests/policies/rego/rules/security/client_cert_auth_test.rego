package headroom_test.security.client_cert_auth

import data.headroom.rules.security.client_cert_auth as rule
import data.headroom.testing

bad := {
	"off": {"input": testing.example({"etcd_extra_config": {"client-transport-security": {"client-cert-auth": false}}}), "texts": {`etcd-1: client-cert-auth is false (etcd_extra_config["client-transport-security"]["client-cert-auth"]), so whoever reaches the client port is let in`}},
	"peers": {"input": testing.example({"etcd_peer_client_cert_auth": "no"}), "texts": {`etcd-1: peer-client-cert-auth is no (etcd_peer_client_cert_auth), so whoever reaches the peer port is let in`}},
	"not set elsewhere": {"input": testing.environment({"ETCD_LISTEN_CLIENT_URLS": "https://10.0.0.1:2379"}), "texts": {`etcd-1: client-cert-auth is not set, so whoever reaches the client port is let in`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"on": testing.example({"etcd_extra_config": {"client-transport-security": {"client-cert-auth": true}}}),
	"on elsewhere": testing.environment({"ETCD_LISTEN_CLIENT_URLS": "https://10.0.0.1:2379", "ETCD_CLIENT_CERT_AUTH": "true"}),
	"plain HTTP is another rule": testing.environment({"ETCD_LISTEN_CLIENT_URLS": "http://10.0.0.1:2379"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
