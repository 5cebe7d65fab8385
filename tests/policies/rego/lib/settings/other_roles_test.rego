package headroom_test.settings.other_roles

import data.headroom.settings.other_roles
import data.headroom.settings.statement

_member(format, variables) := statement.member(other_roles.statement(format, variables, {}, {"etcd_env"}))

test_kubespray_defaults if {
	found := _member("kubespray", {"etcd_version": "3.5.21", "kube_version": "1.31.9"})
	found.settings.snapshot_count == 100000
	found.settings.auto_compaction_retention == "8"
	found.settings.quota_backend_bytes == 2147483648
	found.names.snapshot_count == "kubespray's default etcd_snapshot_count"
	not found.limit.bytes
	found.kubernetes
}

# kubespray 2.28 raised the default, and writes kube_version without the letter.
kubespray_snapshot_counts := [
	["v1.26.5", 10000],
	["v1.31.4", 10000],
	["1.31.9", 100000],
	["1.33", 100000],
	["v1.32.0", null],
	["1.29.1", null],
	["latest", null],
	[null, null],
]

test_kubespray_snapshot_count[note] if {
	some [kube_version, expected] in kubespray_snapshot_counts
	note := json.marshal(kube_version)
	found := _member("kubespray", {"etcd_version": "3.5.21", "kube_version": kube_version})
	object.get(found.settings, "snapshot_count", null) == expected
	found.unknown & {"snapshot_count"} == {"snapshot_count" | expected == null}
}

test_kubespray_stated if {
	found := _member("kubespray", {
		"etcd_version": "v3.5.21",
		"etcd_snapshot_count": 5000,
		"etcd_deployment_type": "docker",
		"etcd_memory_limit": "512M",
		"etcd_extra_vars": {"ETCD_MAX_TXN_OPS": "256", "OTHER": "x"},
	})
	found.version == "3.5.21"
	found.settings.snapshot_count == 5000
	found.settings.max_txn_ops == 256
	found.names.snapshot_count == "etcd_snapshot_count"
	found.names.max_txn_ops == `etcd_extra_vars["ETCD_MAX_TXN_OPS"]`
	found.limit == {"name": "etcd_memory_limit", "bytes": 536870912}
}

# The template writes etcd_extra_vars below the other variables, so that they win.
test_kubespray_extra_vars_override if {
	found := _member("kubespray", {
		"etcd_version": "3.5.21",
		"etcd_snapshot_count": 5000,
		"etcd_extra_vars": {"ETCD_SNAPSHOT_COUNT": "7000", "ETCD_MAX_REQUEST_BYTES": "20971520"},
	})
	found.settings.snapshot_count == 7000
	found.settings.max_request_bytes == 20971520
	found.names.max_request_bytes == `etcd_extra_vars["ETCD_MAX_REQUEST_BYTES"]`
	count(found.twice) == 0
}

kubeadm := [
	{"etcd_deployment_type": "kubeadm"},
	{"etcd_kubeadm_enabled": true, "etcd_deployment_type": "docker"},
	{"etcd_kubeadm_enabled": "true"},
]

# kubeadm's own arguments and etcd_extra_vars become flags.
test_kubespray_kubeadm[note] if {
	some deployment in kubeadm
	note := json.marshal(deployment)
	found := _member("kubespray", object.union(deployment, {
		"etcd_version": "3.5.25",
		"etcd_secure_client": false,
		"etcd_peer_client_auth": false,
		"etcd_max_wals": 9,
		"etcd_heartbeat_interval": 100,
		"etcd_snapshot_count": 5000,
		"etcd_extra_vars": {"unsafe-no-fsync": "true", "heartbeat-interval": "300", "ETCD_MAX_TXN_OPS": "256", "initial-cluster-token": ""},
	}))
	found.settings.unsafe_no_fsync
	found.settings.heartbeat_interval == 300
	found.names.heartbeat_interval == `etcd_extra_vars["heartbeat-interval"]`
	found.names.snapshot_count == "etcd_snapshot_count"
	found.names.client_cert_auth == "kubeadm's default --client-cert-auth"
	found.settings.peer_trusted_ca_file == "/etc/kubernetes/pki/etcd/ca.crt"
	not found.names.max_wals
	not found.names.max_txn_ops

	# etcd exits on such a flag, and on one without a value where it expects one.
	{entry.spelling | some entry in found.given; entry.form == "flag"} & {"ETCD_MAX_TXN_OPS", "initial-cluster-token"} == {"ETCD_MAX_TXN_OPS", "initial-cluster-token"}
	every entry in found.given { entry.form == "flag" }
	found.default_limit == null
	count(found.twice) == 0
}

test_kubespray_without_kubeadm if {
	found := _member("kubespray", {"etcd_kubeadm_enabled": false, "etcd_extra_vars": {"unsafe-no-fsync": "true", "ETCD_MAX_TXN_OPS": "256"}})
	not found.names.unsafe_no_fsync
	found.settings.max_txn_ops == 256
	found.names.client_cert_auth == "kubespray's default etcd_secure_client"
}

test_kubespray_unknown_deployment[variable] if {
	some variable in ["etcd_deployment_type", "etcd_kubeadm_enabled"]
	found := other_roles.statement(
		"kubespray",
		{"etcd_secure_client": false, "etcd_heartbeat_interval": 100, "etcd_extra_vars": {"unsafe-no-fsync": "true", "ETCD_MAX_TXN_OPS": "256"}},
		{variable: "a template"}, set(),
	)
	found.unknown[variable][1] == "a template"
	member := statement.member(found)
	member.settings.heartbeat_interval == 100
	"extra_config" in member.unknown
	count(object.keys(member.settings) & {"unsafe_no_fsync", "max_txn_ops", "client_cert_auth"}) == 0
}

# With kubeadm these have no effect.
test_kubespray_unknown_but_without_effect if {
	found := other_roles.statement("kubespray", {"etcd_deployment_type": "kubeadm"}, {"etcd_secure_client": "a template", "etcd_metrics": "a template"}, set())
	object.keys(found.unknown) == {"etcd_metrics", "etcd_version"}
}

limits := [
	[{"etcd_deployment_type": "docker", "etcd_kubeadm_enabled": true, "etcd_memory_limit": "512M"}, null],
	[{"etcd_deployment_type": "docker", "etcd_memory_limit": "0"}, null],
	[{"etcd_deployment_type": "host", "etcd_memory_limit": "512M"}, null],
	[{"etcd_deployment_type": "host", "etcd_memory_limit": "512M", "etcd_memory_budget": "1GB"}, 1073741824],
]

test_kubespray_limit[note] if {
	some [variables, expected] in limits
	note := json.marshal(variables)
	object.get(_member("kubespray", variables).limit, "bytes", null) == expected
}

test_kubespray_unknown if {
	found := other_roles.statement(
		"kubespray", {}, {
			"etcd_compaction_retention": "a template",
			"etcd_extra_vars": "a template inside",
			"etcd_version": "a template",
			"etcd_memory_limit": "a template",
		},
		set(),
	)
	found.unknown == {
		"etcd_compaction_retention": ["auto_compaction_retention", "a template"],
		"etcd_extra_vars": ["extra_config", "a template inside"],
		"etcd_version": ["version", "a template"],
		"etcd_memory_limit": ["limit", "a template"],
	}
	not statement.member(found).names.auto_compaction_retention
}

test_autobase if {
	found := _member("autobase", {"etcd_version": "3.5.11", "etcd_client_cert_auth": "false"})
	found.settings.heartbeat_interval == 1000
	found.settings.election_timeout == 5000
	found.settings.client_cert_auth == false
	found.names.election_timeout == "autobase's fixed ETCD_ELECTION_TIMEOUT"

	# Older releases do not compact.
	"auto_compaction_retention" in found.unknown
	not found.kubernetes
}

test_pigsty if {
	found := _member("pigsty", {"etcd_seq": 1, "etcd_cluster": "etcd", "etcd_election_timeout": 2000})
	found.settings.election_timeout == 2000
	found.settings.heartbeat_interval == 100
	found.settings.auto_compaction_retention == "24h"
	found.names.auto_compaction_retention == "pigsty's fixed ETCD_AUTO_COMPACTION_RETENTION"

	# Only newer releases set a quota.
	"quota_backend_bytes" in found.unknown
}

test_githubixx if {
	found := _member("githubixx.etcd", {"etcd_version": "3.5.9", "etcd_settings_user": {"snapshot-count": "5000", "wal-dir": ""}})
	found.settings.snapshot_count == 5000
	found.settings.auto_compaction_retention == "0"
	found.names.snapshot_count == `etcd_settings_user["snapshot-count"]`
	found.names.auto_compaction_retention == `githubixx.etcd's default etcd_settings["auto-compaction-retention"]`
	not found.names.wal_dir
}

# etcd_settings replaces all defaults of the role.
test_githubixx_own_map if {
	variables := {"etcd_settings": {"snapshot-count": "5000", "max-wals": "9"}, "etcd_settings_user": {"max-wals": "7"}}
	found := _member("githubixx.etcd", variables)
	found.settings == {"snapshot_count": 5000, "max_wals": 7}
}

# Without the content of etcd_settings no default is certain.
test_githubixx_unknown if {
	found := other_roles.statement("githubixx.etcd", {}, {"etcd_settings": "a template inside"}, set())
	found.given == []
	found.unknown.etcd_settings == ["extra_config", "a template inside"]
}

test_environment if {
	variables := {"etcd_env": {"ETCD_SNAPSHOT_COUNT": 5000, "GOGC": "50", "PATH": "/bin"}, "etcd_workload": {"keys": 5}}
	found := _member("environment", variables)
	found.settings == {"snapshot_count": 5000, "gogc": "50"}
	found.names.snapshot_count == `etcd_env["ETCD_SNAPSHOT_COUNT"]`
	found.workload == {"keys": 5}
}

versions := [
	["kubespray", {}, "it is not set, and the default depends on the role's own release"],
	["kubespray", {"kube_version": "v1.26.5"}, "it is not set, and kubespray installs 3.5.6 to 3.5.16 for Kubernetes 1.26, by its own release"],
	["kubespray", {"kube_version": "v1.19.1"}, "it is not set, and kubespray installs 3.4.13 for Kubernetes 1.19, by its own release"],
	["kubespray", {"kube_version": "1.99.1"}, "it is not set, and the default depends on the role's own release"],
	["environment", {}, "it is not set"],
	["environment", {"etcd_version": "latest"}, `"latest" names no release`],
	["environment", {"etcd_image": "team/my-etcd:1.0.1"}, "it is not set"],
]

test_without_version[reason] if {
	some [format, variables, reason] in versions
	found := other_roles.statement(format, variables, {}, set())
	found.version == null
	found.unknown.etcd_version == ["version", reason]
}
