package headroom_test.security.plain_http

import data.headroom.rules.security.plain_http as rule
import data.headroom.testing

bad := {
	"no TLS": {"input": testing.example({"etcd_tls_enabled": false}), "texts": {`etcd-1: clients and peers speak plain HTTP (etcd_tls_enabled is false)`}},
	"a URL": {"input": testing.example({"etcd_extra_config": {"listen-client-urls": "https://10.0.0.1:2379, http://10.0.0.1:2378"}}), "texts": {`etcd-1: http://10.0.0.1:2378 is plain HTTP beyond this host (etcd_extra_config["listen-client-urls"])`}},
	"a list": {"input": testing.example({"etcd_extra_config": {"listen-peer-urls": ["http://0.0.0.0:2380"]}}), "texts": {`etcd-1: http://0.0.0.0:2380 is plain HTTP beyond this host (etcd_extra_config["listen-peer-urls"])`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"loopback": testing.example({"etcd_extra_config": {"listen-client-urls": "http://127.0.0.1:2379,http://localhost:2379,http://[::1]:2379"}}),
	"odd": testing.example({"etcd_extra_config": {"listen-client-urls": {"a": 1}, "listen-peer-urls": [1]}}),
	"unknown": testing.example({"etcd_tls_enabled": "{{ x }}"}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}
