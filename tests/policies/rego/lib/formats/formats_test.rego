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

test_trailing_comma if {
	service := {"image": "etcd:v3.5.18", "command": ["etcd", "--initial-cluster", "a=http://a:2380,"]}
	compose.statements({"services": {"a": service}}).a.members == 1
}

# The scheme and the port are written out, so the value is known as far as rules ask.
test_url_with_placeholder if {
	service := {"image": "etcd:v3.5.18", "command": ["etcd", "--listen-client-urls=http://${IP}:2379,http://127.0.0.1:2379", "--listen-peer-urls=${SCHEME}://${IP}:2380"]}
	found := compose.statements({"services": {"a": service}}).a
	{entry.name | some entry in found.given} == {"--listen-client-urls"}
	object.keys(found.unknown) == {"--listen-peer-urls"}
}

test_compose if {
	found := compose.statements({"services": {"db": {
		"image": "registry.example:5000/team/etcd:3.6.1-r2@sha256:00",
		"entrypoint": ["etcd"],
		"command": "--max-wals 9 --name ${NAME}",
		"environment": {"ETCD_QUOTA_BACKEND_BYTES": 4294967296, "ETCD_SNAPSHOT_COUNT": null, "PATH": "/bin", "ETCD_INITIAL_CLUSTER_TOKEN": "a$$b"},
		"env_file": "more.env",
		"mem_limit": "1g",
	}}}).db
	found.version == "3.6.1"
	found.limit == {"name": "mem_limit", "bytes": 1073741824}
	{[entry.name, entry.value] | some entry in found.given} == {
		["--max-wals", "9"],
		["ETCD_QUOTA_BACKEND_BYTES", 4294967296],
		["ETCD_INITIAL_CLUSTER_TOKEN", "a$$b"],
	}
	found.unknown == {
		"--name": ["name", "filled in at deployment"],
		"ETCD_SNAPSHOT_COUNT": ["snapshot_count", "it is passed on from where this file is used"],
		"env_file of the service": ["extra_config", "settings may come from there, and it is not read"],
	}
}

composed := [
	[{"image": "bitnami/etcd"}, true],
	[{"image": "bitnami/etcd:latest", "command": ["--name", "a"]}, true],
	[{"build": ".", "command": "etcd"}, true],
	[{"image": "bitnami/etcd:latest", "command": ["etcdctl", "get", "x"]}, false],
	[{"image": "example/etcd-backup:1"}, false],
	[{"image": "example/backup:1", "command": ["backup", "/var/lib/etcd"]}, false],
	[{"image": 5}, false],
]

test_runs_etcd[note] if {
	some [service, expected] in composed
	note := json.marshal(service)
	{expected} == {count(compose.statements({"services": {"x": service}})) == 1}
}

# Variables that only a member has, in an image of any name, and a shell in etcd's image with the port of peers.
own_images := [
	[{"build": "./etcd", "environment": {"ETCD_INITIAL_CLUSTER": "a=http://a:2380"}}, true],
	[{"build": "./etcd", "command": ["./wait.sh"], "environment": {"ETCD_INITIAL_CLUSTER": "a=http://a:2380"}}, false],
	[{"image": "team/app:1", "environment": {"ETCD_ENDPOINTS": "a"}}, false],
	[{"image": "team/etcd:3.3.9-x", "command": "/bin/sh", "ports": ["2379:2379", "2380:2380"]}, true],
	[{"image": "team/etcd:3.3.9-x", "command": "/bin/sh", "ports": [2379]}, false],
	[{"image": "team/my-etcd:2.0.1", "ports": ["2380:2380"]}, true],
	[{"image": "team/my-etcd:2.0.1", "ports": [2379]}, false],
	[{"image": "team/my-etcd-proxy:2.0.1", "ports": [2380]}, false],
	[{"image": "team/fetcd:2.0.1", "ports": [2380]}, false],
]

test_own_images[note] if {
	some [service, expected] in own_images
	note := json.marshal(service)
	found := compose.statements({"services": {"x": service}})
	{expected} == {count(found) == 1}
	every statement in found { statement.silent == ["extra_config"] }
}

# The tag of an image that is named after etcd, or of an image of something else, is its own.
tags := [
	[{"image": "team/my-etcd:2.0.1", "ports": ["2380:2380"]}, null],
	[{"image": "team/app:2.0.1", "command": "etcd"}, null],
	[{"image": "team/my-etcd:3.5.9-0", "command": "etcd"}, "3.5.9"],
]

test_tags[note] if {
	some [service, expected] in tags
	note := json.marshal(service)
	compose.statements({"services": {"x": service}}).x.version == expected
}

# An image with members of its own: nobody knows how many.
test_image_with_members if {
	documents := [{"path": "c.yml", "contents": {"services": {"etcd": {"image": "soyking/etcd-goreman:3.2.7", "environment": ["CLIENT_ADDR=etcd"]}}}}]
	some profile in clusters.profiles with input as documents
	profile.etcd.version == "3.2.7"
	members := clusters.members with input as documents
	members == {}
}

# Swarm may start a service several times, and a proxy is no member.
hidden_members := [
	[{"deploy": {"mode": "global"}}, true],
	[{"deploy": {"replicas": 3}}, true],
	[{"deploy": {"replicas": 1}}, false],
	[{"command": "etcd --proxy on"}, true],
	[{"command": "etcd --proxy off"}, false],
	[{"environment": {"ETCD_PROXY": "readonly"}}, true],
]

test_hidden_members[note] if {
	some [changes, expected] in hidden_members
	note := json.marshal(changes)
	service := object.union({"image": "quay.io/coreos/etcd:v3.5.35", "command": "etcd"}, changes)
	found := compose.statements({"services": {"x": service}}).x
	{expected} == {"initial_cluster" in found.silent}
}

# NAME=URL, with placeholders that cannot be a list of other members.
peers := [
	["$NAME=http://$IP:2380", 1],
	["${A}=http://a:2380,etcd-${i}=http://b:2380", 2],
	["{{name}}-{{i}}=http://a:2380", 1],
	["${OTHERS}n1=http://a:2380", null],
	["$OTHERS,n1=http://a:2380", null],
]

test_peers[listed] if {
	some [listed, number] in peers
	service := {"image": "quay.io/coreos/etcd:v3.5.35", "command": ["etcd", sprintf("--initial-cluster=%s", [listed])]}
	found := compose.statements({"services": {"x": service}}).x
	{number} == {found.members | not found.unknown["--initial-cluster"]} | {null | found.unknown["--initial-cluster"]}
}

# The script of somebody's image of etcd gets the members in a variable of its own.
listed_peers := [
	[{"image": "team/etcd:v1", "environment": {"INITIAL_CLUSTER": "a=http://a:2380"}}, ["INITIAL_CLUSTER"]],
	[{"image": "team/etcd:v1", "environment": {"INITIAL_CLUSTER": "new"}}, []],
	[{"image": "team/etcd:v1", "environment": {"INITIAL_CLUSTER": "a=http://a:2380", "ETCD_INITIAL_CLUSTER": "b=http://b:2380"}}, ["ETCD_INITIAL_CLUSTER"]],
	[{"image": "quay.io/coreos/etcd:v3.5.1", "environment": {"INITIAL_CLUSTER": "a=http://a:2380"}}, []],
]

test_listed_peers[note] if {
	some [service, expected] in listed_peers
	note := json.marshal(service)
	found := compose.statements({"services": {"x": service}}).x
	expected == [entry.name | some entry in found.given; entry.spelling == "ETCD_INITIAL_CLUSTER"]
}

# Compose replaces ${NAME:-value} by the value unless the shell sets NAME.
test_compose_default if {
	service := {"image": "etcd:${TAG:-v3.5.1}", "command": "etcd --listen-client-urls=http://0.0.0.0:${PORT-2379} --name ${NAME}"}
	found := compose.statements({"services": {"x": service}}).x
	found.version == "3.5.1"
	{entry.value | some entry in found.given} == {"http://0.0.0.0:2379"}
}

# A tag with the number of a series is enough to know that its fixes have ended.
test_series_in_tag if {
	compose.statements({"services": {"x": {"image": "etcd:v3.3"}}}).x.version == "v3.3"
	compose.statements({"services": {"x": {"image": "etcd:3.6"}}}).x.version == null
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
	{expected} == {count(manifest.statements(pod).etcd.facts) == 1}
	facts := {place.facts.data_fstype | some place in clusters.host_profiles} with input as [{"path": "x.yml", "contents": pod}]
	facts == {"emptyDir" | expected}
}

# In a volume the path tells nothing, and without one it does.
mounted_services := [
	[["data:/tmp/etcd:rw"], "/tmp/etcd", {}],
	[[{"source": "data", "target": "/tmp/etcd/"}], "/tmp/etcd", {}],
	[["data:/other"], "/tmp/etcd", {"data_dir": "/tmp/etcd"}],
	# In a container this is not memory.
	[["data:/other"], "/var/run/etcd", {}],
]

test_mounted[note] if {
	some [mounts, folder, expected] in mounted_services
	note := json.marshal([mounts, folder])
	service := {"image": "etcd:v3.5.1", "command": ["etcd", "--data-dir", folder], "volumes": mounts}
	{place.facts | some place in clusters.host_profiles} == {expected} with input as [{"path": "x.yml", "contents": {"services": {"x": service}}}]
}

# A script in an image of etcd starts it, if it gets the variables of a member.
test_script_of_an_image[name] if {
	some [name, script, started] in [
		["ETCD_LISTEN_CLIENT_URLS", "/start.sh", true],
		["ETCD_ENDPOINTS", "/start.sh", false],
		["ETCD_LISTEN_CLIENT_URLS", "/backup", false],
	]
	service := {"image": "etcd:v3.5.1", "command": [script], "environment": {name: "http://a:2379"}}
	count(compose.statements({"services": {"x": service}})) == 1 == started
}

# Placeholders that a person replaces.
test_placeholders_of_persons if {
	service := {"image": "etcd:v3.5.1", "command": "etcd --name __NODE__ --initial-cluster=<members>"}
	object.keys(compose.statements({"services": {"x": service}}).x.unknown) == {"--name", "--initial-cluster"}
}

# Names and certificates of Kubernetes tell that an API server compacts etcd.
test_of_kubernetes if {
	service := {"image": "etcd:v3.5.1", "command": "etcd --trusted-ca-file=/etc/kubernetes/pki/etcd/ca.crt"}
	compose.statements({"services": {"x": service}}).x.kubernetes
	not compose.statements({"services": {"x": {"image": "etcd:v3.5.1", "command": "etcd --name kafka"}}}).x.kubernetes
}

test_etcd_2 if {
	"auto_compaction_retention" in compose.statements({"services": {"x": {"image": "etcd:v2.3.8"}}}).x.silent
	compose.statements({"services": {"x": {"image": "quay.io/coreos/etcd:v3.0.1"}}}).x.silent == []
}

versionless := [
	[{"image": "bitnami/etcd:latest"}, `the image "bitnami/etcd:latest" names no release`],
	[{"image": "bitnami/etcd"}, `the image "bitnami/etcd" names no release`],
	[{"command": "etcd"}, "this file does not state it"],
]

# Bitnami's scripts read variables that etcd does not know.
test_variables_of_the_image if {
	service := {"image": "bitnami/etcd:3.5.17", "environment": {"ETCD_ROOT_PASSWORD": "x", "ETCD_SNAPSHOT_COUNT": "5", "GOGC": "50"}}
	{entry.spelling | some entry in compose.statements({"services": {"x": service}}).x.given} == {"ETCD_SNAPSHOT_COUNT", "GOGC"}
}

# A loop of a template may add any variable.
test_names_of_a_loop if {
	service := {"image": "quay.io/coreos/etcd:v3.5.17", "environment": {"{{$k}}": "{{$v}}", "ETCD_MAX_WALS": "5"}}
	found := compose.statements({"services": {"x": service}}).x
	found.unknown == {"{{$k}}": ["extra_config", "filled in at deployment"]}
	[entry.spelling | some entry in found.given] == ["ETCD_MAX_WALS"]
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
	data_volume := object.union(service, {"volumes": ["data:/bitnami/etcd"]})
	count(compose.statements({"services": {"x": data_volume}}).x.given) == 1
	other := object.union(mounted, {"image": "quay.io/coreos/etcd:v3.5.17"})
	count(compose.statements({"services": {"x": other}}).x.given) == 1
}

# Nor does etcd see those that the scripts of somebody's own image read, unless the command is etcd's.
images_of_others := [
	[{"image": "someone/etcd:latest"}, {"ETCD_SNAPSHOT_COUNT"}],
	[{"image": "someone/etcd:latest", "command": "etcd --name a"}, {"ETCD_BOOTSTRAP_NAMES", "ETCD_SNAPSHOT_COUNT"}],
	[{"image": "quay.io/coreos/etcd:v3.5.1"}, {"ETCD_BOOTSTRAP_NAMES", "ETCD_SNAPSHOT_COUNT"}],
	[{"image": "registry.k8s.io/etcd:3.5.1"}, {"ETCD_BOOTSTRAP_NAMES", "ETCD_SNAPSHOT_COUNT"}],
	[{"image": "etcd:3.5.1"}, {"ETCD_BOOTSTRAP_NAMES", "ETCD_SNAPSHOT_COUNT"}],
]

test_variables_of_images_of_others[note] if {
	some [image, expected] in images_of_others
	note := json.marshal(image)
	service := object.union(image, {"environment": {"ETCD_BOOTSTRAP_NAMES": "a", "ETCD_SNAPSHOT_COUNT": "5"}})
	{entry.spelling | some entry in compose.statements({"services": {"x": service}}).x.given; entry.form == "env"} == expected
}

# Placeholders for hosts and names leave the number of members known; a list in a placeholder does not.
initial_clusters := [
	["a=http://${IP}:2380", set(), 1],
	["${NAME}=https://$IP:2380,b=https://$(B):${PORT},", set(), 2],
	["default=http://{{host}}:2380", set(), 1],
	["{{a}}=http://{{a}}:2380,{{others|join}}", {"--initial-cluster"}, 2],
	["a=https://10.0.0.1:2380,$OTHERS", {"--initial-cluster"}, 2],
	["{% for h in hosts %}{{ h }}=http://{{ h }}:2380,{% endfor %}", {"--initial-cluster"}, 1],
	["CLUSTER_URL", {"--initial-cluster"}, 1],
]

test_initial_cluster[value] if {
	some [value, unknown, members] in initial_clusters
	found := compose.statements({"services": {"x": {"image": "etcd:v3.5.1", "command": ["etcd", "--initial-cluster", value]}}}).x
	object.keys(found.unknown) == unknown
	found.members == members
}

test_compose_passes_on if {
	service := {"image": "etcd:v3.5.1", "environment": ["ETCD_SNAPSHOT_COUNT", 5]}
	object.keys(compose.statements({"services": {"x": service}}).x.unknown) == {"ETCD_SNAPSHOT_COUNT"}
}

test_versionless[reason] if {
	some [service, reason] in versionless
	found := compose.statements({"services": {"x": service}}).x
	found.version == null
	found.unknown["the version"] == ["version", reason]
}

test_compose_limit if {
	service := {"image": "etcd:v3.5.1", "deploy": {"resources": {"limits": {"memory": "512M"}}}}
	compose.statements({"services": {"x": service}}).x.limit == {"name": "deploy.resources.limits.memory", "bytes": 536870912}
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
	{place.facts | some place in clusters.host_profiles} == {{"data_dir": "/etcd"}} with input as document
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
