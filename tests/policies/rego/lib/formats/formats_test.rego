package headroom_test.formats

import data.headroom.clusters
import data.headroom.formats
import data.headroom.formats.compose
import data.headroom.formats.config_file
import data.headroom.formats.environment_file
import data.headroom.formats.manifest
import data.headroom.inventory
import data.headroom.settings.dispatch

_compose := {"services": {
	"etcd": {"image": "quay.io/coreos/etcd:v3.5.18", "command": "etcd --data-dir /etcd", "environment": ["ETCD_SNAPSHOT_COUNT=50000"]},
	"web": {"image": "web"},
}}

_manifest := {
	"apiVersion": "v1",
	"kind": "Pod",
	"metadata": {"name": "etcd", "namespace": "kube-system", "labels": {"component": "etcd"}},
	"spec": {"containers": [{"name": "etcd", "image": "registry.k8s.io/etcd:3.5.15-0", "command": ["etcd", "--data-dir=/var/lib/etcd"]}]},
}

_config := {"name": "n1", "listen-client-urls": "https://n1:2379", "initial-cluster": "n1=https://n1:2380,n2=https://n2:2380"}

_environment := {"ETCD_NAME": "n1", "ETCD_SNAPSHOT_COUNT": "5"}

kinds := [
	["compose.yml", _compose, {"etcd": "compose"}],
	["other/compose.yml", {"services": {"web": {"image": "web"}, "note": "text"}}, {}],
	["etcd.yaml", _manifest, {"etcd": "manifest"}],
	["service.yaml", {"apiVersion": "v1", "kind": "Service", "spec": {}}, {}],
	["etcd.conf.yml", _config, {"n1": "config file"}],
	["etcd.env", _environment, {"n1": "environment file"}],
	["client.env", {"ETCD_ENDPOINTS": "n1:2379"}, {}],
	["group_vars/etcd.yml", _environment, {}],
	["hosts.yml", {"all": {"hosts": {"n1": null}}}, {}],
	["list.yml", [1], {}],
]

test_format[path] if {
	some [path, contents, expected] in kinds
	found := formats.inventories with input as [{"path": path, "contents": contents}]
	expected == {host: variables.statement.format | some host, variables in object.get(found, [path, "hosts"], {})}
}

# Manifests often have several documents in one file.
test_several_documents if {
	documents := [
		{"path": "all.yaml", "contents": {"apiVersion": "v1", "kind": "Service"}},
		{"path": "all.yaml", "contents": _manifest},
		{"path": "all.yaml", "contents": object.union(_manifest, {"metadata": {"name": "second"}})},
	]
	found := formats.inventories with input as documents
	object.keys(found["all.yaml"].hosts) == {"etcd", "second"}
}

# A placeholder in place of flags may set anything; an empty variable sets nothing.
test_placeholders if {
	service := {"image": "quay.io/coreos/etcd:v3.5.18", "command": ["etcd", "{{ options }}", "--name", "$NAME"], "environment": {"ETCD_WAL_DIR": ""}}
	some profile in clusters.profiles with input as [{"path": "compose.yml", "contents": {"services": {"etcd": service}}}]
	"extra_config" in profile.etcd.unknown
	object.keys(profile.unknown) == {"--name", "{{ options }}"}
	not profile.etcd.settings.wal_dir
}

# Documents with equal names are both kept.
test_same_names if {
	other := json.patch(_manifest, [{"op": "replace", "path": "/metadata/namespace", "value": "other"}])
	documents := [{"path": "all.yaml", "contents": _manifest}, {"path": "all.yaml", "contents": other}]
	found := formats.inventories with input as documents
	object.keys(found["all.yaml"].hosts) == {"etcd", "etcd (2)"}
}

test_same_variables if {
	service := {"image": "etcd:v3.5.1", "environment": ["ETCD_SNAPSHOT_COUNT=1", "ETCD_SNAPSHOT_COUNT=2"]}
	{entry.value | some entry in compose.statements({"services": {"x": service}}).x.given} == {"2"}
	twice := [{"name": "ETCD_SNAPSHOT_COUNT", "value": "1"}, {"name": "ETCD_SNAPSHOT_COUNT", "value": "2"}]
	pod := json.patch(_manifest, [{"op": "add", "path": "/spec/containers/0/env", "value": twice}])
	"2" in {entry.value | some entry in manifest.statements(pod).etcd.given}
}

_repeating := ["etcd", "--data-dir=/tmp/a", "--quota-backend-bytes", "1", "--name={{ name }}", "--pre-vote", "--quota-backend-bytes=2", "--name=n1", "--data-dir=/data/b", "--pre-vote"]

# etcd takes the last of a repeated flag. The first may even be a placeholder.
test_repeated_flags if {
	document := {"services": {"x": {"image": "etcd:v3.5.18", "command": _repeating, "volumes": ["data:/data"]}}}
	found := compose.statements(document).x
	{[entry.name, entry.value] | some entry in found.given} == {["--data-dir", "/data/b"], ["--quota-backend-bytes", "2"], ["--name", "n1"], ["--pre-vote", "true"]}
	found.unknown == {}
	found.mounted == ["data_dir"]
	some profile in clusters.profiles with input as [{"path": "compose.yml", "contents": document}]
	profile.etcd.settings.quota_backend_bytes == 2
	object.filter(profile.etcd.twice, {"quota_backend_bytes", "pre_vote"}) == {"quota_backend_bytes": ["--quota-backend-bytes", "--quota-backend-bytes"]}
}

# kubeadm passes a list of arguments on in its order.
test_repeated_arguments if {
	arguments := [{"name": "snapshot-count", "value": "5000"}, {"name": "snapshot-count", "value": "7000"}]
	document := {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "etcd": {"local": {"extraArgs": arguments}}}
	some profile in clusters.profiles with input as [{"path": "kubeadm.yml", "contents": document}]
	profile.etcd.settings.snapshot_count == 7000
}

# A file beside an inventory is an inventory of its own.
test_beside_an_inventory if {
	both := [
		{"path": "site/hosts.yml", "contents": {"etcd": {"hosts": {"n1": null}}}},
		{"path": "site/compose.yml", "contents": _compose},
		{"path": "compose.yml", "contents": _compose},
	]
	names := object.keys(inventory.inventories) with input as both
	names == {"site", "site/compose.yml", "compose.yml"}
}

_services(number) := {"services": {name: {"image": "etcd:v3.5.18", "command": ["etcd", "--initial-cluster", "a=x,b=y,c=z"]} |
	some name in array.slice(["a", "b", "c"], 0, number)
}}

sizes := [
	["three of three", _services(3), 3, 1],
	["one of three", _services(1), 3, 0],
	["alone", _compose, 1, 1],
	["static pod without a list", _manifest, 1, 1],
	["config file", _config, 2, 0],
	["environment file", _environment, 1, 0],
]

# Members form a cluster only if all of them are in one file.
test_members[note] if {
	some [note, contents, size, whole] in sizes
	document := [{"path": "x.yml", "contents": contents}]
	{size} == {profile.members | some profile in clusters.profiles} with input as document
	count(clusters.members) == whole with input as document
}

# An image with members of its own: nobody knows how many.
test_image_with_members if {
	documents := [{"path": "c.yml", "contents": {"services": {"etcd": {"image": "soyking/etcd-goreman:3.2.7", "environment": ["CLIENT_ADDR=etcd"]}}}}]
	some profile in clusters.profiles with input as documents
	profile.etcd.version == "3.2.7"
	members := clusters.members with input as documents
	members == {}
}

# Kubernetes and shells replace variables of the container.
test_variables_of_the_container if {
	pod := json.patch(_manifest, [
		{"op": "add", "path": "/spec/containers/0/env", "value": [{"name": "SCHEME", "value": "http"}, {"name": "IP", "valueFrom": {}}, {"name": "X", "value": "$(IP)"}]},
		{"op": "replace", "path": "/spec/containers/0/command", "value": ["etcd", "--listen-peer-urls=$(SCHEME)://0.0.0.0:2380", "--listen-client-urls=${SCHEME}://$(IP):2379", "--name=$(X)"]},
	])
	{entry.value | some entry in manifest.statements(pod).etcd.given} == {"http://0.0.0.0:2380", "http://$(IP):2379"}
}

volumes := [
	[[{"name": "v", "mountPath": "/var/lib/etcd/"}], true],
	[[{"name": "v", "mountPath": "/var/lib"}], true],
	[[{"name": "v", "mountPath": "/var/lib"}, {"name": "w", "mountPath": "/var/lib/etcd"}], false],
	[[{"name": "v", "mountPath": "/var/lib/etcd2"}], false],
]

test_volume[note] if {
	some [mounts, expected] in volumes
	note := json.marshal(mounts)
	pod := json.patch(_manifest, [
		{"op": "add", "path": "/spec/volumes", "value": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/data"}}]},
		{"op": "add", "path": "/spec/containers/0/volumeMounts", "value": mounts},
	])
	{expected} == {"data_fstype" in object.keys(manifest.statements(pod).etcd.facts)}
	facts := {host_profile.facts.data_fstype | some host_profile in clusters.host_profiles} with input as [{"path": "x.yml", "contents": pod}]
	facts == {"emptyDir" | expected}
}

network_volumes := {"nfs": "nfs", "glusterfs": "glusterfs", "cephfs": "ceph"}

test_network_volume[key] if {
	some key, type in network_volumes
	pod := json.patch(_manifest, [
		{"op": "add", "path": "/spec/volumes", "value": [{"name": "v", key: {"path": "/a"}}]},
		{"op": "add", "path": "/spec/containers/0/volumeMounts", "value": [{"name": "v", "mountPath": "/var/lib/etcd"}]},
	])
	manifest.statements(pod).etcd.facts.data_fstype.value == type
}

# In a volume the path tells nothing, and without one it does.
mounted_services := [
	[["data:/tmp/etcd:rw"], "/tmp/etcd", {}],
	[[{"source": "data", "target": "/tmp/etcd/"}], "/tmp/etcd", {}],
	[["data:/other"], "/tmp/etcd", {"data_dir": "/tmp/etcd"}],
	[["/tmp/data:/data"], "/data/etcd", {"data_dir_on_host": "/tmp/data"}],
	[["/srv/etcd:/tmp/etcd"], "/tmp/etcd", {"data_dir_on_host": "/srv/etcd"}],
	[["/tmp/data:/data", "data:/data/etcd"], "/data/etcd", {}],
	# In a container this is not memory.
	[["data:/other"], "/var/run/etcd", {}],
]

test_mounted[note] if {
	some [mounts, folder, expected] in mounted_services
	note := json.marshal([mounts, folder])
	service := {"image": "etcd:v3.5.1", "command": ["etcd", "--data-dir", folder], "volumes": mounts}
	{host_profile.facts | some host_profile in clusters.host_profiles} == {expected} with input as [{"path": "x.yml", "contents": {"services": {"x": service}}}]
}

# The folder of the host counts, whether a flag or a variable sets the path.
test_host_path if {
	pod := json.patch(_manifest, [
		{"op": "add", "path": "/spec/volumes", "value": [{"name": "v", "hostPath": {"path": "/tmp/data"}}]},
		{"op": "add", "path": "/spec/containers/0/volumeMounts", "value": [{"name": "v", "mountPath": "/var/lib/etcd"}]},
	])
	{"/tmp/data"} == {host_profile.facts.data_dir_on_host | some host_profile in clusters.host_profiles} with input as [{"path": "x.yml", "contents": pod}]
	{"--data-dir"} == {host_profile.names.data_dir_on_host | some host_profile in clusters.host_profiles} with input as [{"path": "x.yml", "contents": pod}]
	service := {"image": "etcd:v3.5.1", "environment": {"ETCD_DATA_DIR": "/data"}, "volumes": [{"type": "bind", "source": "/tmp/x", "target": "/data"}]}
	{{"data_dir_on_host": "/tmp/x"}} == {host_profile.facts | some host_profile in clusters.host_profiles} with input as [{"path": "x.yml", "contents": {"services": {"x": service}}}]
}

# etcd ignores its environment if the image's scripts find a config file.
test_config_file_of_the_image if {
	service := {"image": "bitnami/etcd:3.5.17", "environment": {"ETCD_ADVERTISE_CLIENT_URLS": "http://a:2379"}}
	mounted := object.union(service, {"volumes": ["./etcd.yaml:/opt/bitnami/etcd/conf/etcd.yaml:ro"]})
	found := compose.statements({"services": {"x": mounted}}).x
	found.given == []
	found.version == "3.5.17"
	{"extra_config", "initial_cluster"} == {name | some name in found.silent}
	object.keys(found.unknown) == {"/opt/bitnami/etcd/conf/etcd.yaml"}
	some folder in ["conf/certs", "conf/ca.pem", "config"]
	below := object.union(service, {"volumes": [sprintf("./certs:/opt/bitnami/etcd/%s", [folder])]})
	count(compose.statements({"services": {"x": below}}).x.given) == 1
	data_volume := object.union(service, {"volumes": ["data:/bitnami/etcd"]})
	count(compose.statements({"services": {"x": data_volume}}).x.given) == 1
	other := object.union(mounted, {"image": "quay.io/coreos/etcd:v3.5.17"})
	count(compose.statements({"services": {"x": other}}).x.given) == 1
}

test_config if {
	document := object.union(_config, {
		"quota-backend-bytes": 5,
		"max-wals": {"odd": 1},
		"client-transport-security": {"cert-file": "x", "allowed-cn": ["a", "b"]},
		"peer-transport-security": null,
		"discovery-config": {"client": {"secure": {"key": "x"}}},
		"log-outputs": [{"odd": 1}],
	})
	found := config_file.statements(document).n1
	{entry.spelling | some entry in found.given} == {
		"name",
		"listen-client-urls",
		"initial-cluster",
		"quota-backend-bytes",
		"max-wals",
		"max-wals.odd",
		"client-transport-security.cert-file",
		"client-transport-security.allowed-cn",
		"discovery-config.client.secure.key",
		"log-outputs",
	}
	found.members == 2
	object.keys(config_file.statements(object.remove(document, ["name"]))) == {"etcd"}
}

test_no_config if {
	not config_file.is_format_of({"snapshot-count": 5})
	not config_file.is_format_of({"data-dir": "/a", "name": "b"})
	not config_file.is_format_of({"snapshot-count": 5, "data-dir": "/a", "all": {}})
	config_file.is_format_of({"snapshot-count": 5, "data-dir": "/a"})
	not config_file.is_format_of(object.union(_config, {"all": {"hosts": "n1"}}))
}

test_environment if {
	found := environment_file.statements({"ETCD_SNAPSHOT_COUNT": "5", "ETCDCTL_ENDPOINTS": "x", "ETCD_INITIAL_CLUSTER": ""})
	{entry.spelling | some entry in found.etcd.given} == {"ETCD_SNAPSHOT_COUNT"}
	found.etcd.members == null
}

# data.headroom.assumed completes all files.
test_assumed if {
	assumed := {"etcd_version": "3.6.16", "etcd_memory_budget": "2GB", "etcd_workload": {"keys": 5}}
	found := environment_file.statements(_environment).n1 with data.headroom.assumed as assumed
	found.version == "3.6.16"
	found.limit == {"name": "assumed.etcd_memory_budget", "bytes": 2147483648}
	found.workload == {"keys": 5}
	not found.unknown["the version"]
}

test_profile if {
	document := [{"path": "compose.yml", "contents": _compose}]
	found := {profile | some profile in clusters.profiles} with input as document
	{profile.etcd.settings | some profile in found} == {{"snapshot_count": 50000, "data_dir": "/etcd"}}
	{host_profile.facts | some host_profile in clusters.host_profiles} == {{"data_dir": "/etcd", "data_dir_in_layer": "/etcd"}} with input as document
	dispatch.group["compose.yml"] == "etcd" with input as document
}

# A script around it downloads the release.
test_config_file_with_a_release if {
	found := config_file.statements(object.union(_config, {"headroom_release": "3.5.0"})).n1
	found.version == "3.5.0"
	count([entry | some entry in found.given; entry.name == "headroom_release"]) == 0
}

# An empty volume has no config file.
test_an_empty_volume_in_bitnami if {
	"7" in {entry.value | some entry in manifest.statements(_bitnami_pod({"emptyDir": {}})).etcd.given}
	manifest.statements(_bitnami_pod({"configMap": {"name": "c"}})).etcd.given == []
}

_bitnami_pod(volume) := {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "etcd"}, "spec": {
	"containers": [{
		"name": "etcd",
		"image": "docker.io/bitnami/etcd:3.5.15",
		"env": [{"name": "ETCD_SNAPSHOT_COUNT", "value": "7"}],
		"volumeMounts": [{"name": "v", "mountPath": "/opt/bitnami/etcd/conf/"}],
	}],
	"volumes": [object.union(volume, {"name": "v"})],
}}

# A list with one member has its name; a template's name would stand for any number of hosts.
names_in_templates := [
	["{{ host }}", "n1=http://{{ ip }}:2380", "n1"],
	["${host}", "n1=http://${ip}:2380", "n1"],
	["{{ host }}", "n1=http://{{ ip }}:2380,n2=http://n2:2380", "{{ host }}"],
	["{{ host }}", "{{ host }}=http://{{ ip }}:2380", "{{ host }}"],
	["n2", "n1=http://n1:2380", "n2"],
]

test_name_in_a_template[note] if {
	some [name, members, expected] in names_in_templates
	note := json.marshal([name, members])
	document := {"name": name, "initial-cluster": members, "listen-client-urls": "https://n1:2379"}
	object.keys(config_file.statements(document)) == {expected}
}

test_only_member_in_a_template if {
	document := {"name": "{{ host }}", "initial-cluster": "n1=http://{{ ip }}:2380", "listen-client-urls": "https://n1:2379"}
	object.keys(clusters.members) == {["x.yml", "etcd"]} with input as [{"path": "x.yml", "contents": document}]
}

# Nobody has to write out a value that no rule needs.
test_unknown_values_that_no_rule_needs if {
	document := {
		"name": "n1",
		"listen-client-urls": "https://n1:2379",
		"listen-peer-urls": "https://n1:2380",
		"initial-cluster-token": "{{ token }}",
		"discovery": "{{ url }}",
		"quota-backend-bytes": "{{ quota }}",
	}
	unknown := {name | some profile in clusters.profiles; some name, _ in profile.unknown} with input as [{"path": "x.yml", "contents": document}]
	unknown == {"quota-backend-bytes", "the version"}
	variables := {"services": {"x": {"image": "etcd:v3.5.18", "environment": {"ETCD_INITIAL_CLUSTER_TOKEN": "${TOKEN}", "ETCD_LOG_LEVEL": null}}}}
	set() == {name | some profile in clusters.profiles; some name, _ in profile.unknown} with input as [{"path": "x.yml", "contents": variables}]
}

# Image, where a volume is mounted, and the setting that may be there.
_start_folders := [
	["quay.io/coreos/etcd:v3.4.3", "/var/lib/etcd", []],
	["quay.io/coreos/etcd:v3.4.3", "/default.etcd", ["data_dir"]],
	["quay.io/coreos/etcd:v3.5.4", "/var/lib/etcd", []],
	["quay.io/coreos/etcd:v3.5.31", "/var/lib/etcd", ["data_dir"]],
	["quay.io/coreos/etcd:v3.5.31", "/var/lib/etcd/n1.etcd", ["data_dir"]],
	["quay.io/coreos/etcd:v3.5.31", "/default.etcd", []],
	["quay.io/coreos/etcd", "/var/lib/etcd", ["data_dir"]],
	["registry.example/etcd:3.5.31", "/var/lib/etcd", ["data_dir"]],
	["registry.example/etcd:3.5.31", "/default.etcd", ["data_dir"]],
	["rancher/mirrored-coreos-etcd:v3.4.15-rancher1", "/etcd", []],
	["bitnami/etcd:3.5.31", "/etcd", ["data_dir"]],
]

test_start_folder[title] if {
	some [image, target, expected] in _start_folders
	title := sprintf("%s with %s", [image, target])
	service := {"image": image, "command": "etcd --name a", "volumes": [sprintf("v:%s", [target])]}
	compose.statements({"services": {"x": service}}).x.silent == expected
}

# Command of a shell, and the settings that a flag and an exported file set.
_exporting := [
	["set -a; . /f; set +a; exec etcd --name $ETCD_NAME --data-dir /d", {"name"}],
	["set -o allexport && source /f && etcd --name ${ETCD_NAME}", {"name"}],
	["set -ae; . /f; etcd --name $ETCD_NAME", {"name"}],
	["set -a; . /f; etcd --name $NAME --no-such $ETCD_NO_SUCH", set()],
	[". /f; etcd --name $ETCD_NAME", set()],
	["set -e; . /f; etcd --name $ETCD_NAME", set()],
	["set -a; set +a; . /f; etcd --name $ETCD_NAME", set()],
	["set -o allexport; set +o allexport; . /f; etcd --name $ETCD_NAME", set()],
	["set -a; . /f; ETCD_NAME=a; etcd --name $ETCD_NAME", set()],
	["set -a; . /f; unset ETCD_NAME; etcd --name $ETCD_NAME", set()],
	["set -a; . /f; sudo etcd --name $ETCD_NAME", set()],
	["set -a; . /etc/os-release; etcd --name $ETCD_NAME", set()],
	["set -a; etcd --name $ETCD_NAME", set()],
]

test_exported_file[script] if {
	some [script, twice] in _exporting
	service := {"image": "quay.io/coreos/etcd:v3.5.31", "command": ["sh", "-c", script]}
	object.keys(compose.statements({"services": {"x": service}}).x.twice) == twice
	pod := {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"}, "spec": {"containers": [object.union(service, {"name": "x"})]}}
	object.keys(manifest.statements(pod).x.twice) == twice
}
