package headroom_test.formats.vocabulary

import data.headroom.clusters
import data.headroom.files.lines
import data.headroom.formats
import data.headroom.formats.quantity
import data.headroom.formats.vocabulary
import data.headroom.result

# name, document, members, and the settings of each.
cases := [
	[
		"kubeadm with a map",
		{"apiVersion": "kubeadm.k8s.io/v1beta3", "kind": "ClusterConfiguration", "etcd": {"local": {"imageTag": "3.5.9-0", "extraArgs": {"quota-backend-bytes": "5"}}}},
		{"etcd"},
		object.union(_of_kubeadm, {"quota_backend_bytes": 5}),
	],
	[
		"kubeadm with a list",
		{"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "etcd": {"local": {
			"extraArgs": [{"name": "snapshot-count", "value": "7"}],
			"extraEnvs": [{"name": "ETCD_HEARTBEAT_INTERVAL", "value": "5"}, {"name": "HTTP_PROXY", "value": "x"}, 5],
		}}},
		{"etcd"},
		object.union(_of_kubeadm, {"snapshot_count": 7, "heartbeat_interval": 5}),
	],
	["kubeadm with etcd elsewhere", {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "etcd": {"external": {}}}, set(), {}],
	[
		"kind",
		{
			"apiVersion": "kind.x-k8s.io/v1alpha4", "kind": "Cluster", "name": "ci",
			"kubeadmConfigPatches": ["kind: ClusterConfiguration\netcd:\n  local:\n    extraArgs:\n      unsafe-no-fsync: 'true'\n"],
		},
		{"ci"},
		object.union(_of_kubeadm, {"unsafe_no_fsync": true}),
	],
	["kind without etcd", {"apiVersion": "kind.x-k8s.io/v1alpha4", "kubeadmConfigPatches": ["kind: InitConfiguration\n"]}, set(), {}],
	[
		"vcluster",
		{"controlPlane": {"backingStore": {"etcd": {"deploy": {
			"enabled": true,
			"statefulSet": {"highAvailability": {"replicas": 3}, "extraArgs": ["--snapshot-count=7"], "image": {"tag": "3.5.14-0"}},
		}}}}},
		{"etcd-0", "etcd-1", "etcd-2"},
		{"snapshot_count": 7},
	],
	["vcluster with its embedded database", {"controlPlane": {"backingStore": {"etcd": {"deploy": {"enabled": false}}}}}, set(), {}],
	[
		"k3s",
		{"etcd-arg": ["--snapshot-count=7", "unsafe-no-fsync"]},
		{"etcd"},
		object.union(_of_k3s, {"snapshot_count": 7, "unsafe_no_fsync": true}),
	],
	["k3s with one argument as a text", {"etcd-arg": "heartbeat-interval=1000"}, {"etcd"}, object.union(_of_k3s, {"heartbeat_interval": 1000})],
	["k3s with more arguments", {"etcd-arg+": ["unsafe-no-fsync=true"]}, {"etcd"}, object.union(_of_k3s, {"unsafe_no_fsync": true})],
	["k3s with metrics", {"cluster-init": true, "etcd-expose-metrics": true}, {"etcd"}, object.union(_of_k3s, {"listen_metrics_urls": "http://NODE_IP:2381"})],
	[
		"k3s with metrics on an address",
		{"cluster-init": true, "etcd-expose-metrics": true, "etcd-arg": ["listen-metrics-urls=https://10.0.0.1:2381"]},
		{"etcd"},
		object.union(_of_k3s, {"listen_metrics_urls": "https://10.0.0.1:2381"}),
	],
	["k3s without metrics", {"cluster-init": true, "etcd-expose-metrics": false}, {"etcd"}, _of_k3s],
	["k3s with another database", {"write-kubeconfig-mode": "0600"}, set(), {}],
	[
		"rke1",
		{"nodes": [{"role": ["etcd"]}, {"role": ["etcd", "worker"]}, {"role": ["worker"]}], "services": {"etcd": {"extra_args": {"snapshot-count": 7}}}},
		{"etcd-0", "etcd-1"},
		{"snapshot_count": 7},
	],
	["rke1 without services", {"nodes": [{"address": "a", "role": ["etcd", "worker"]}]}, {"etcd"}, {}],
	["the incubator's chart", {"component": "etcd", "image": {"repository": "k8s.gcr.io/etcd-arm64", "tag": "3.2.26"}, "replicas": 3}, {"etcd-0", "etcd-1", "etcd-2"}, {}],
	[
		"talos",
		{"cluster": {"etcd": {"extraArgs": {"listen-metrics-urls": ["http://a", "http://b"]}}}},
		{"etcd"},
		object.union(_of_talos, {"listen_metrics_urls": "http://a,http://b"}),
	],
	[
		"talhelper",
		{
			"clusterName": "a",
			"endpoint": "https://10.0.0.1:6443",
			"nodes": [{"ipAddress": "10.0.0.1", "controlPlane": true}, {"ipAddress": "10.0.0.2", "controlPlane": true}, {"ipAddress": "10.0.0.3"}],
			"patches": ["@./patches/a.yaml", "machine: {}", {"cluster": {"etcd": {"extraArgs": {"snapshot-count": "7"}}}}],
			"controlPlane": {"patches": ["cluster:\n  etcd:\n    extraArgs:\n      heartbeat-interval: 5\n", "patches/b.yaml"]},
		},
		{"etcd-0", "etcd-1"},
		object.union(_of_talos, {"snapshot_count": 7, "heartbeat_interval": 5}),
	],
	["k0sctl", _k0sctl(["controller", "controller+worker", "worker"], {}), {"kv-0", "kv-1"}, _of_k0s],
	["k0sctl with one role that has SQLite", _k0sctl(["single"], {}), set(), {}],
	["k0sctl with one role and etcd", _k0sctl(["single"], {"etcd": {"extraArgs": {"snapshot-count": "7"}}}), {"kv"}, object.union(_of_k0s, {"snapshot_count": 7})],
	["k0sctl with etcd by name", _k0sctl(["single"], {"type": "etcd"}), {"kv"}, _of_k0s],
	["k0sctl with another database", _k0sctl(["controller"], {"type": "kine"}), set(), {}],
	["k0sctl with the roles of old releases", _k0sctl(["server", "worker"], {}), {"kv"}, _of_k0s],
	["kops", _kops("kops.k8s.io/v1alpha2", ["a"]), {"main"}, {}],
	[
		"kops with variables",
		json.patch(_kops("kops.k8s.io/v1alpha2", ["a"]), [{
			"op": "add",
			"path": "/spec/etcdClusters/1/manager",
			"value": {
				"env": [{"name": "ETCD_QUOTA_BACKEND_BYTES", "value": "8589934592"}, {"name": "ETCD_MANAGER_DAILY_BACKUPS_RETENTION", "value": "7d"}],
				"listenMetricsURLs": ["http://127.0.0.1:8081", "http://0.0.0.0:8081"],
			},
		}]),
		{"main"},
		{"quota_backend_bytes": 8589934592, "listen_metrics_urls": "http://127.0.0.1:8081,http://0.0.0.0:8081"},
	],
	["kops of 2018 with three members", _kops("kops/v1alpha2", ["a", "b", "c"]), {"main-0", "main-1", "main-2"}, {}],
	["kops without a cluster of that name", {"apiVersion": "kops.k8s.io/v1alpha2", "kind": "Cluster", "spec": {"etcdClusters": [{"name": "events", "etcdMembers": [{"name": "a"}]}]}}, set(), {}],
	[
		"container linux",
		{"coreos": {"etcd2": {"name": "n1", "listen-client-urls": "http://0.0.0.0:2379"}}},
		{"n1"},
		{"listen_client_urls": "http://0.0.0.0:2379"},
	],
	[
		"container linux config",
		{"etcd": {"version": "3.3.1", "listen_client_urls": "http://0.0.0.0:2379"}},
		{"etcd"},
		{"listen_client_urls": "http://0.0.0.0:2379"},
	],
	["bitnami", {"image": {"repository": "bitnami/etcd"}, "replicaCount": 1, "autoCompactionMode": ""}, {"etcd"}, {}],
	["an older bitnami", {"image": {"repository": "bitnami/etcd", "tag": "3.4.3-debian-9-r0"}, "statefulset": {"replicaCount": 1}}, {"etcd"}, {}],
	["a chart that depends on it", {"etcd": {"replicaCount": 1}, "minio": {"mode": "standalone"}}, {"etcd"}, {}],
	["a chart with another etcd", {"etcd": {"enabled": false, "replicaCount": 1}}, set(), {}],
	["bitnami with one of its variables", {"replicaCount": 1, "extraEnvVars": [{"name": "ETCD_SNAPSHOT_COUNT", "value": "7"}]}, {"etcd"}, {"snapshot_count": 7}],
	["variables for a client", {"replicaCount": 1, "extraEnvVars": [{"name": "ETCD_ENDPOINTS", "value": "a"}]}, set(), {}],
	["a chart of its own", {"etcd": {"image": "quay.io/coreos/etcd:v3.5.1", "replicas": 1, "env": {"ETCD_SNAPSHOT_COUNT": "7"}}}, {"etcd"}, {"snapshot_count": 7}],
	["a chart of its own with imageTag", {"etcd": {"image": "quay.io/coreos/etcd", "imageTag": "v3.3.9"}}, {"etcd"}, {}],
	["a chart of its own without etcd", {"etcd": {"image": "quay.io/coreos/etcd", "imageTag": "v3.3.9", "enabled": false}}, set(), {}],
	["an image in one text", {"image": "quay.io/coreos/etcd:v3.5.1", "replicas": 1}, {"etcd"}, {}],
	["a chart after the incubator's", {"image": {"repository": "quay.io/coreos/etcd"}, "replicas": 1}, {"etcd"}, {}],
	["an image alone", {"image": {"repository": "quay.io/coreos/etcd"}, "backup": {}}, set(), {}],
	["two numbers of replicas", {"image": {"repository": "a/etcd"}, "replicas": 1, "replicaCount": 3}, {"etcd-0", "etcd-1", "etcd-2"}, {}],
	["kamaji with an image", {"image": {"repository": "a/etcd"}, "replicas": 1, "quotaBackendBytes": "5", "snapshotCount": "7"}, {"etcd"}, {"quota_backend_bytes": 5, "snapshot_count": 7}],
	["an image of a chart within a chart", {"replicaCount": 2, "etcd": {"image": {"repository": "quay.io/coreos/etcd", "tag": "v3.5.1"}}}, {"etcd"}, {}],
	["etcd that is off", {"etcd": {"enabled": false, "image": "a/etcd:v3.5.1"}}, set(), {}],
	["a tag with a digest", {"image": {"repository": "a/etcd", "tag": "v3.5.31@sha256:70cd"}, "replicaCount": 1, "config": {"autoCompactionMode": "periodic", "autoCompactionRetention": "8h"}}, {"etcd"}, {"auto_compaction_mode": "periodic", "auto_compaction_retention": "8h"}],
	["settings with names of Go", {"image": {"repository": "a/etcd"}, "replicas": 1, "config": {"snapshotCount": 7, "heartbeatInterval": "1s", "quotaBackendBytes": 0}}, {"etcd"}, {"snapshot_count": 7}],
	["a config file below etcd", {"etcd": {"image": {"repository": "a/etcd"}, "replicaCount": 1, "configFile": {"snapshot-count": 7, "initial-cluster": "etcd=http://localhost:2380", "data-dir": null, "name": ""}}}, {"etcd"}, {"snapshot_count": 7, "initial_cluster": "etcd=http://localhost:2380"}],
	["a map with other keys", {"etcd": {"image": {"repository": "a/etcd"}, "replicaCount": 1, "config": {"name": "a", "debug": true}}}, {"etcd"}, {}],
	["a config file as a text", {"image": {"repository": "a/etcd"}, "replicaCount": 1, "configuration": "snapshot-count: 7"}, {"etcd"}, {}],
	["many replicas", {"image": {"repository": "bitnami/etcd"}, "replicaCount": 11}, {"etcd"}, {}],
	[
		"druid",
		{"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "metadata": {"name": "main"}, "spec": {"replicas": 3, "etcd": {"quota": "8Gi", "snapshotCount": 7}}},
		{"main-0", "main-1", "main-2"},
		{"quota_backend_bytes": 8589934592, "snapshot_count": 7, "auto_compaction_mode": "periodic", "auto_compaction_retention": "30m"},
	],
]

# The values of Bitnami's chart for certificates, and the settings that they become.
_of_auth := [
	[{"peer": {"secureTransport": true, "useAutoTLS": true, "enableAuthentication": false}}, object.union(_peers_without_certificate, _peers_make_theirs)],
	[{"peer": {"secureTransport": true, "useAutoTLS": false, "enableAuthentication": false}}, _peers_without_certificate],
	[{"peer": {"secureTransport": true, "enableAuthentication": false, "caFilename": "ca.crt"}}, {}],
	[{"peer": {"secureTransport": true, "enableAuthentication": true}}, {}],
	[{"peer": {"secureTransport": false, "useAutoTLS": true, "enableAuthentication": false}}, {}],
	[{"client": {"secureTransport": true, "enableAuthentication": false}}, {}],
	[{"rbac": {"create": true}, "client": {"secureTransport": true, "enableAuthentication": false}}, {}],
	[{"rbac": {"create": false}, "client": {"secureTransport": true, "enableAuthentication": false}}, {"client_cert_auth": false, "trusted_ca_file": ""}],
	[{"rbac": {"enabled": false}, "client": {"secureTransport": true, "enableAuthentication": false}}, {"client_cert_auth": false, "trusted_ca_file": ""}],
	[{"client": {"secureTransport": true, "useAutoTLS": true}}, {"auto_tls": true, "cert_file": ""}],
]

_peers_without_certificate := {"peer_client_cert_auth": false, "peer_trusted_ca_file": ""}

_peers_make_theirs := {"peer_auto_tls": true, "peer_cert_file": ""}

test_certificates_of_bitnami[auth] if {
	some [auth, settings] in _of_auth
	some values in [
		object.union(_bitnami, {"auth": auth}),
		{"etcd": {"replicaCount": 3, "auth": auth}},
		{"image": {"repository": "bitnami/etcd"}, "statefulset": {"replicaCount": 3}, "auth": auth},
	]
	some profile in clusters.profiles with input as [{"path": "a.yml", "contents": values}]
	profile.etcd.settings == settings
}

# A config file replaces the variables, and variables of one's own replace the chart's.
test_other_certificates_of_bitnami if {
	auth := {"peer": {"secureTransport": true, "enableAuthentication": false}}
	configured := object.union(_bitnami, {"auth": auth, "configuration": "name: a\n"})
	some profile in clusters.profiles with input as [{"path": "a.yml", "contents": configured}]
	profile.etcd.settings == {}
	variables := [{"name": "ETCD_PEER_TRUSTED_CA_FILE", "value": "/ca"}]
	some other in clusters.profiles with input as [{"path": "a.yml", "contents": object.union(_bitnami, {"auth": auth, "extraEnvVars": variables})}]
	other.etcd.settings == {"peer_client_cert_auth": false, "peer_trusted_ca_file": "/ca"}
	other.etcd.twice == {}
}

# The URLs of a cluster that others deploy; neither its release nor its size matters.
_elsewhere := [
	{"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "etcd": {"external": {"endpoints": ["http://10.0.0.1:2379"]}}},
	{"apiVersion": "kubeadm.k8s.io/v1alpha1", "kind": "MasterConfiguration", "etcd": {"endpoints": ["http://10.0.0.1:2379"]}},
	{"apiVersion": "k0s.k0sproject.io/v1beta1", "kind": "ClusterConfig", "spec": {"storage": {"etcd": {"externalCluster": {"endpoints": ["http://10.0.0.1:2379"]}}}}},
	{"nodes": [], "services": {"etcd": {"external_urls": ["http://10.0.0.1:2379"]}}},
	{"kind": "KubeadmControlPlane", "spec": {"kubeadmConfigSpec": {"clusterConfiguration": {"etcd": {"external": {"endpoints": ["http://10.0.0.1:2379"]}}}}}},
]

test_elsewhere[document] if {
	some document in _elsewhere
	some profile in clusters.profiles with input as [{"path": "a.yml", "contents": document}]
	profile.etcd.settings == {"advertise_client_urls": "http://10.0.0.1:2379"}
	profile.unknown == {}
}

# Values of other charts, and of jobs.
_volumes := [
	[{"image": {"repository": "quay.io/coreos/etcd", "tag": "v3.2.4"}, "storage": {"size": "1Gi"}}, {"etcd"}],
	[{"image": {"repository": "quay.io/coreos/", "name": "etcd", "tag": "v3.3.9"}, "replicas": 1, "peerPort": 2380}, {"etcd"}],
	[{"image": {"repository": "quay.io/coreos/etcd", "tag": "v3.2.4"}}, set()],
	[{"image": {"repository": "quay.io/coreos/etcd", "tag": "v3.2.4"}, "storage": {"size": "1Gi"}, "schedule": "@daily"}, set()],
	[{"image": {"repository": "quay.io/coreos/etcd-operator", "tag": "v0.9.4"}, "storage": {"size": "1Gi"}}, set()],
]

test_values_with_a_volume[document] if {
	some [document, members] in _volumes
	object.keys(vocabulary.statements(document)) == members
}

test_members[name] if {
	some [name, document, members, settings] in cases
	statements := vocabulary.statements(document)
	object.keys(statements) == members
	some profile in _profiles(document, members)
	profile.etcd.settings == settings
}

# One without members has no profile.
_profiles(document, members) := found if {
	count(members) > 0
	found := clusters.profiles with input as [{"path": "a.yml", "contents": document}]
} else := {{"etcd": {"settings": {}}}}

_k0sctl(roles, storage) := {
	"apiVersion": "k0sctl.k0sproject.io/v1beta1",
	"kind": "Cluster",
	"metadata": {"name": "kv"},
	"spec": {"hosts": [{"role": role} | some role in roles], "k0s": {"config": {"spec": {"storage": storage}}}},
}

_kops(version, members) := {
	"apiVersion": version,
	"kind": "Cluster",
	"metadata": {"name": "k.example.com"},
	"spec": {"etcdClusters": [
		{"name": "events", "etcdMembers": [{"name": "a"}], "version": "3.5.9"},
		{"name": "main", "etcdMembers": [{"name": name} | some name in members], "version": "3.3.13"},
	]},
}

_of_kubeadm := object.union(_with_certificates("/etc/kubernetes/pki/etcd/ca.crt"), {"snapshot_count": 10000})

_of_k3s := object.union(_with_certificates("/var/lib/rancher/k3s/server/tls/etcd/server-ca.crt"), {
	"peer_trusted_ca_file": "/var/lib/rancher/k3s/server/tls/etcd/peer-ca.crt",
	"snapshot_count": 10000,
	"election_timeout": 5000,
	"heartbeat_interval": 500,
})

_of_talos := _with_certificates("/system/secrets/etcd/ca.crt")

_of_k0s := object.union(_with_certificates("/var/lib/k0s/pki/etcd/ca.crt"), {"listen_client_urls": "https://127.0.0.1:2379"})

_with_certificates(authority) := {
	"client_cert_auth": true,
	"peer_client_cert_auth": true,
	"trusted_ca_file": authority,
	"peer_trusted_ca_file": authority,
}

_bitnami := {
	"image": {"repository": "bitnami/etcd", "tag": "3.5.7-debian-11-r22"},
	"replicaCount": 2,
	"resources": {"limits": {"memory": "1Gi"}},
}

test_release_size_and_limit if {
	document := [{"path": "values.yml", "contents": _bitnami}]
	some profile in clusters.profiles with input as document
	profile.etcd.version == "3.5.7"
	profile.etcd.limit == {"name": "resources.limits.memory", "bytes": 1073741824}
	profile.etcd.unknown == {"extra_config"}
	profile.members == 2
	clusters.members == {["values.yml", "etcd"]: {"etcd-0", "etcd-1"}} with input as document
}

# The vocabulary itself tells the release, and a node the other groups that it is in.
test_release_of_vocabulary if {
	some profile in clusters.profiles with input as [{"path": "a.yml", "contents": {"coreos": {"etcd2": {"name": "n1"}}}}]
	profile.etcd.version == "2.3"
}

# The tag of somebody's own image is not a release of etcd.
test_tags[tag] if {
	some [tag, version] in [["1.0.1", null], ["3.99.0", "3.99.0"], ["3.4", "3.4"]]
	document := {"image": {"repository": "team/etcd", "tag": tag}, "replicaCount": 1}
	vocabulary.statements(document).etcd.version == version
}

# The release of the main cluster. The one for events is left out.
test_kops if {
	document := [{"path": "cluster.yml", "contents": _kops("kops.k8s.io/v1alpha2", ["a"])}]
	{[profile.etcd.version, profile.members] | some profile in clusters.profiles} == {["3.3.13", 1]} with input as document
	clusters.members == {["cluster.yml", "etcd"]: {"main"}} with input as document
}

test_groups_of_nodes if {
	nodes := [{"role": ["etcd"]}, {"role": ["worker"]}, {"role": ["etcd", "worker"]}]
	found := formats.inventories with input as [{"path": "a.yml", "contents": {"nodes": nodes, "services": {"etcd": {}}}}]
	found["a.yml"].groups.worker == {"etcd-1"}
	found["a.yml"].groups.etcd == {"etcd-0", "etcd-1"}
}

test_empty_dir if {
	document := {"apiVersion": "etcd.aenix.io/v1alpha1", "kind": "EtcdCluster", "metadata": {"name": "t"}, "spec": {"storage": {"emptyDir": {}}}}
	{host_profile.facts | some host_profile in clusters.host_profiles} == {{"data_fstype": "emptyDir"}} with input as [{"path": "a.yml", "contents": document}]
}

test_not_persistent if {
	values := {"etcd": {"replicaCount": 3, "persistence": {"enabled": false}}}
	{[host_profile.names, host_profile.facts] | some host_profile in clusters.host_profiles} == {[{"persistent": "etcd.persistence.enabled"}, {"persistent": false}]} with input as [{"path": "a.yml", "contents": values}]
	persistent := {"etcd": {"replicaCount": 3, "persistence": {"enabled": true}}}
	{host_profile.facts | some host_profile in clusters.host_profiles} == {{}} with input as [{"path": "a.yml", "contents": persistent}]
}

test_version_unknown if {
	some profile in clusters.profiles with input as [{"path": "a.yml", "contents": {"etcd-arg": []}}]
	profile.unknown == {"the version": "the release of k3s or RKE2 chooses it"}
	profile.members == 1
	clusters.members == {} with input as [{"path": "a.yml", "contents": {"etcd-arg": []}}]
}

test_cluster_of_one_member if {
	member := {
		"name": "n1",
		"format": "environment file",
		"image": null,
		"command": ["etcd"],
		"environment": {"ETCD_INITIAL_CLUSTER": "n1=http://n1:2380"},
		"limit": null,
		"memlock": null,
		"unknown": {},
		"silent": ["extra_config"],
		"where": {},
	}
	document := [{"path": "-", "contents": {"headroom_lint": {"files": [{"path": "etcd.conf", "contents": {"headroom_member": member}}]}}}]
	clusters.members == {["etcd.conf", "etcd"]: {"n1"}} with input as document
}

test_quantity if {
	quantity.bytes("1M") == 1000000
	quantity.bytes("1Mi") == 1048576
	quantity.bytes("512") == 512
}

# The line of the tag stands for the release, and numbered replicas have the scope of their name.
test_lines if {
	index := {"words": {"tag": [3, 9], "snapshot-count": [4, 8]}, "scopes": {"etcd": [[2, 5]]}}
	reader := {"files": [{"path": "values.yml", "contents": _bitnami}], "lines": {"values.yml": index}}
	document := [{"path": "-", "contents": {"headroom_lint": reader}}]
	catalog := {"t/n": {"title": "A title", "custom": {"id": "t/n", "severity": "deny", "fix": "Do it", "source": "a page"}}}
	problem := {"inventory": "values.yml", "hosts": {"etcd-0"}, "about": "etcd_version", "text": "it is so"}
	some finding in result.findings("t/n", {problem}) with input as document with data.headroom.catalog as catalog
	finding._loc.line == 3
	lines.line("values.yml", "etcd-1", "--snapshot-count") == 4 with input as document
	formats.paths == {"values.yml"} with input as document
}

# Where nothing else says how many members there are, initial-cluster does.
initial_clusters := [["n1=http://$private_ipv4:2380", 1], ["<hostname>=http://<ip>:2380", 1], ["<a>=http://10.0.0.1:2380,b=http://10.0.0.2:2380", 2], ["a=http://10.0.0.1:2380,b=http://10.0.0.2:2380", 2]]

test_initial_cluster[listed] if {
	some [listed, number] in initial_clusters
	some profile in clusters.profiles with input as [{"path": "a.yml", "contents": {"coreos": {"etcd2": {"name": "n1", "initial-cluster": listed}}}}]
	profile.members == number
}

# etcd 0.4 and etcd 2 side by side, neither with a name.
test_two_vocabularies_in_one_document if {
	user_data := {"coreos": {"etcd": {"addr": "a:4001"}, "etcd2": {"listen-client-urls": "http://a:2379"}}}
	object.keys(vocabulary.statements(user_data)) == {"etcd (container-linux)", "etcd (container-linux-0)"}
}

# Each resource is a cluster of its own.
test_two_resources if {
	documents := [{"path": "a.yml", "contents": _etcd_of_operator(name, size)} | some [name, size] in [["a", 3], ["b", 1]]]
	clusters.members == {
		["a.yml", "a"]: {"a-0", "a-1", "a-2"},
		["a.yml", "b"]: {"b"},
	} with input as documents
	clusters.members == {["a.yml", "etcd"]: {"a-0", "a-1", "a-2"}} with input as [documents[0]]
}

_etcd_of_operator(name, size) := {
	"apiVersion": "operator.etcd.io/v1alpha1",
	"kind": "EtcdCluster",
	"metadata": {"name": name},
	"spec": {"version": "v3.5.35", "size": size},
}
