# METADATA
# title: kubespray
# description: |
#   How kubespray starts etcd, which variables of an inventory reach etcd, and what depends on kubespray's release. Read in its releases 2.11
#   to 2.31; a fact without a release holds for all of them.
package headroom.settings.kubespray

import data.headroom.releases.spelling
import data.headroom.settings

# Variable → the variable in etcd.env (roles/etcd/templates/etcd.env.j2).
variables := {
	"etcd_snapshot_count": "ETCD_SNAPSHOT_COUNT",
	"etcd_compaction_retention": "ETCD_AUTO_COMPACTION_RETENTION",
	"etcd_quota_backend_bytes": "ETCD_QUOTA_BACKEND_BYTES",
	"etcd_max_request_bytes": "ETCD_MAX_REQUEST_BYTES",
	"etcd_heartbeat_interval": "ETCD_HEARTBEAT_INTERVAL",
	"etcd_election_timeout": "ETCD_ELECTION_TIMEOUT",
	"etcd_max_snapshots": "ETCD_MAX_SNAPSHOTS",
	"etcd_max_wals": "ETCD_MAX_WALS",
	"etcd_data_dir": "ETCD_DATA_DIR",
	"etcd_metrics": "ETCD_METRICS",
	"etcd_log_level": "ETCD_LOG_LEVEL",
	"etcd_listen_metrics_urls": "ETCD_LISTEN_METRICS_URLS",
	"etcd_secure_client": "ETCD_CLIENT_CERT_AUTH",
	"etcd_peer_client_auth": "ETCD_PEER_CLIENT_CERT_AUTH",
	"etcd_experimental_initial_corrupt_check": "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK",
}

# kubeadm chooses these itself: kubespray's templates of its configuration (kubeadm-config.*.yaml.j2) lack them. They have
# etcd_max_request_bytes since 2.19, etcd_log_level since 2.21 and etcd_listen_metrics_urls since 2.23.
_left_to_kubeadm := {
	"etcd_max_snapshots",
	"etcd_max_wals",
	"etcd_secure_client",
	"etcd_peer_client_auth",
	"etcd_experimental_initial_corrupt_check",
}

# The variables that reach etcd with a deployment. If that is unknown, those that reach it with each.
variables_of(deployment) := variables if {
	deployment in {"docker", "host"}
} else := object.remove(variables, _left_to_kubeadm)

# The flags that kubespray passes to kubeadm.
flags := {spelling.as_flag("env", variable) | some variable in variables_of("kubeadm")}

# How kubespray starts etcd: kubeadm, docker, host, or unknown. Until 2.18 etcd_kubeadm_enabled decides about kubeadm, until 2.27 it overrides
# etcd_deployment_type, and 2.28 refuses it.
deployment(known, unknown) := "kubeadm" if {
	known.etcd_deployment_type == "kubeadm"
} else := "kubeadm" if {
	settings.is_true(known.etcd_kubeadm_enabled)
} else := "unknown" if {
	count({"etcd_deployment_type", "etcd_kubeadm_enabled"} & object.keys(unknown)) > 0
} else := "docker" if {
	known.etcd_deployment_type == "docker"
} else := "host"

# 2.28 (2025) raised snapshot-count. The same release writes kube_version without the letter, and installs Kubernetes 1.30 or newer.
snapshot_count(known) := "100000" if {
	_kubernetes_minor(known, `^1\.([0-9]+)(\.|$)`) >= 30
} else := "10000" if {
	_kubernetes_minor(known, `^v1\.([0-9]+)(\.|$)`) <= 31
}

_kubernetes_minor(known, pattern) := to_number(regex.find_all_string_submatch_n(pattern, sprintf("%v", [known.kube_version]), 1)[0][1])

# Kubernetes minor version → the oldest and the newest etcd that the releases since 2.16 install for it (etcd_supported_versions).
_etcd_of_kubernetes := {
	19: ["3.4.13", "3.4.13"],
	20: ["3.4.13", "3.5.0"],
	21: ["3.4.13", "3.5.3"],
	22: ["3.5.0", "3.5.3"],
	23: ["3.5.3", "3.5.6"],
	24: ["3.5.3", "3.5.6"],
	25: ["3.5.6", "3.5.9"],
	26: ["3.5.6", "3.5.16"],
	27: ["3.5.7", "3.5.16"],
	28: ["3.5.10", "3.5.16"],
	29: ["3.5.12", "3.5.21"],
	30: ["3.5.12", "3.5.22"],
	31: ["3.5.16", "3.5.25"],
}

# Which releases of etcd it may install, as text; undefined if kube_version does not tell.
installed(known) := sprintf("kubespray installs %s for Kubernetes 1.%d, by its own release", [_range(_etcd_of_kubernetes[minor]), minor]) if {
	minor := _kubernetes_minor(known, `^v?1\.([0-9]+)(\.|$)`)
	_etcd_of_kubernetes[minor]
}

_range([oldest, newest]) := oldest if {
	oldest == newest
} else := sprintf("%s to %s", [oldest, newest])
