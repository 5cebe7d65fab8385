package headroom_test.memory.default_limit

import data.headroom.rules.memory.default_limit as rule
import data.headroom.testing

_kubespray(variables) := [
	{"path": "inventory/group_vars/all.yml", "contents": object.union({"etcd_deployment_type": "docker", "etcd_version": "3.6.16"}, variables)},
	{"path": "inventory/hosts.yml", "contents": {
		"etcd": {"hosts": {"n1": null}},
		"k8s_cluster": {"children": {"kube_control_plane": {"hosts": {"n1": null}}}},
	}},
]

_default := "kubespray's default etcd_memory_limit is 512.0 MiB on hosts with less than 4 GiB"

bad := {
	"both by default": {
		"input": _kubespray({}),
		"texts": {sprintf("n1: %s, under the quota of 2.0 GiB (kubespray's default etcd_quota_backend_bytes)", [_default])},
	},
	"a quota": {
		"input": _kubespray({"etcd_quota_backend_bytes": "1073741824"}),
		"texts": {sprintf("n1: %s, under the quota of 1.0 GiB (etcd_quota_backend_bytes)", [_default])},
	},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"a limit": {"etcd_memory_limit": "3G"},
	"none": {"etcd_memory_limit": 0},
	"not known": {"etcd_memory_limit": "{{ x }}"},
	"not in docker": {"etcd_deployment_type": "host"},
	"a small quota": {"etcd_quota_backend_bytes": "268435456"},
}

test_good[note] if {
	some note, variables in good
	found := rule.warn with input as _kubespray(variables)
	count(found) == 0
}

test_headroom if {
	found := rule.warn with input as testing.example({})
	count(found) == 0
}
