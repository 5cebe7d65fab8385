package headroom_test.formats.manifest

import data.headroom.formats.manifest

_manifest := {
	"apiVersion": "v1",
	"kind": "Pod",
	"metadata": {"name": "etcd", "namespace": "kube-system", "labels": {"component": "etcd"}},
	"spec": {"containers": [{"name": "etcd", "image": "registry.k8s.io/etcd:3.5.15-0", "command": ["etcd", "--data-dir=/var/lib/etcd"]}]},
}

# A shell's spelling, and Kubernetes's own. Unknown values are placeholders.
replaced := [
	["--name=$POD", {"a"}],
	["--name=$(POD)", {"a"}],
	["--name=${POD}x", {"ax"}],
	["--name $POD", {"a"}],
	["--name=$PODS", set()],
	["--name=$FIELD", set()],
]

test_variables_of_a_command[words] if {
	some [words, values] in replaced
	spec := {
		"image": "etcd:v3.6.1",
		"command": ["sh", "-c", sprintf("etcd %s", [words])],
		"env": [{"name": "POD", "value": "a"}, {"name": "FIELD", "valueFrom": {}}],
	}
	statements := manifest.statements({"kind": "Pod", "spec": {"containers": [spec]}})
	{entry.value | some statement in statements; some entry in statement.given} == values
}

test_manifest if {
	document := {
		"apiVersion": "apps/v1",
		"kind": "StatefulSet",
		"metadata": {"name": "store"},
		"spec": {"template": {"spec": {"containers": [{
			"name": "main",
			"image": "quay.io/coreos/etcd:v3.6.4",
			"command": ["/bin/sh", "-c", "exec etcd --name $(POD) --max-wals=9"],
			"env": [
				{"name": "ETCD_SNAPSHOT_COUNT", "value": "5000"},
				{"name": "ETCD_AUTO_COMPACTION_RETENTION", "valueFrom": {"fieldRef": {}}},
			],
			"envFrom": [{"configMapRef": {"name": "x"}}],
			"resources": {"limits": {"memory": "512Mi"}},
		}]}}},
	}
	found := manifest.statements(document).store
	found.limit == {"name": "resources.limits.memory", "bytes": 536870912}
	not found.kubernetes
	{[entry.name, entry.value] | some entry in found.given} == {["--max-wals", "9"], ["ETCD_SNAPSHOT_COUNT", "5000"]}
	{name | some name, _ in found.unknown} == {"--name", "ETCD_AUTO_COMPACTION_RETENTION", "envFrom"}
	manifest.statements(_manifest).etcd.kubernetes
	manifest.statements(json.remove(_manifest, ["/metadata/labels"])).etcd.kubernetes
}

_pod(sources) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{
	"name": "etcd",
	"image": "quay.io/coreos/etcd:v3.6.4",
	"envFrom": sources,
	"env": [{"name": "ETCD_NAME", "value": "own"}],
}]}}

_config_map(name, data_of_it) := {"path": sprintf("%s.yml", [name]), "contents": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data_of_it}}

_ref(name) := {"configMapRef": {"name": name}}

# Sources, the settings that they give, and 1 if the rest is unknown. Of "two" there are two variants.
config_maps := [
	["one of the files", [_ref("one")], {"ETCD_NAME": "own", "ETCD_SNAPSHOT_COUNT": "5000"}, 0],
	["with a prefix", [object.union(_ref("bare"), {"prefix": "ETCD_"})], {"ETCD_NAME": "own", "ETCD_MAX_WALS": "9"}, 0],
	["another one", [_ref("one"), _ref("other")], {"ETCD_NAME": "own", "ETCD_SNAPSHOT_COUNT": "5000"}, 1],
	["two of one name", [_ref("two")], {"ETCD_NAME": "own"}, 1],
	["a secret", [{"secretRef": {"name": "one"}}], {"ETCD_NAME": "own"}, 1],
]

test_config_map[text] if {
	some [text, sources, settings, unknown] in config_maps
	maps := [
		_config_map("one", {"ETCD_NAME": "theirs", "ETCD_SNAPSHOT_COUNT": "5000"}),
		_config_map("bare", {"MAX_WALS": "9"}),
		_config_map("two", {"ETCD_MAX_WALS": "8"}),
		object.union(_config_map("two", {"ETCD_MAX_WALS": "7"}), {"path": "variant.yml"}),
	]
	found := manifest.statements(_pod(sources)).p with input as maps
	{entry.name: entry.value | some entry in found.given} == settings
	count({"envFrom"} & object.keys(found.unknown)) == unknown
}

# Changes to a pod, and whether it is the only member.
lone_pods := [
	[{}, true],
	[_static([]), true],
	[_static(["--initial-cluster=a=http://127.0.0.1:2380"]), true],
	[_static(["--initial-cluster=a=http://10.0.0.1:2380"]), false],
	[_static(["--config-file=/etc/etcd.yml"]), false],
	[_static(["$(FLAGS)"]), false],
	[{"spec": {"hostNetwork": true, "containers": [{"name": "etcd", "image": "etcd:v3.6.4"}]}}, true],
	[{"spec": {"hostNetwork": true, "containers": [{"name": "etcd", "image": "etcd:v3.6.4", "envFrom": [_ref("one")]}]}}, false],
	[{"spec": {"hostNetwork": true, "containers": [{"name": "etcd", "image": "team/my-etcd:1", "ports": [{"containerPort": 2380}]}]}}, false],
	[{"spec": {"containers": [{"name": "etcd", "image": "etcd:v3.6.4", "args": ["--discovery=https://example.org/1"]}]}}, false],
]

_static(flags) := {"metadata": {"namespace": "kube-system"}, "spec": {"containers": [{"name": "etcd", "image": "etcd:v3.6.4", "args": array.concat(["--name=a"], flags)}]}}

test_lone_pod[text] if {
	some [change, alone] in lone_pods
	text := sprintf("%v", [change])
	manifest.statements(object.union(_pod([]), change)).p.alone == alone
}

# Value of a flag, and whether it tells that an API server uses this etcd.
names_of_kubernetes := [
	["etcd-k8s", true],
	["etcd-$(K8S_NAMESPACE)", false],
	["$KUBE_HOST", false],
	["kube-${N}", true],
	["http://a.kubeai.svc:2379", false],
	["http://a.kube-system.svc:2379", true],
]

test_serves_kubernetes[value] if {
	some [value, serves] in names_of_kubernetes
	container := {"name": "etcd", "image": "etcd:v3.6.4", "args": [sprintf("--initial-cluster-token=%s", [value])]}
	manifest.statements(object.union(_pod([]), {"spec": {"containers": [container]}})).p.kubernetes == serves
}

# Metadata of a pod, and whether an API server uses this etcd.
members_in_kube_system := [
	[{"name": "etcd-n1", "namespace": "kube-system"}, true],
	[{"name": "kubernetes-etcd", "namespace": "kube-system"}, true],
	[{"generateName": "etcd-", "namespace": "kube-system"}, true],
	[{"name": "calico-etcd", "namespace": "kube-system"}, false],
	[{"name": "etcd", "namespace": "default"}, false],
]

test_namespace_of_kubernetes[metadata] if {
	some [metadata, serves] in members_in_kube_system
	some _, statement in manifest.statements(object.union(object.remove(_pod([]), ["metadata"]), {"metadata": metadata}))
	statement.kubernetes == serves
}

test_image_of_their_own if {
	variables := [{"name": "ETCD_INITIAL_CLUSTER", "value": "a=http://a:2380"}, {"name": "ETCD_NAME", "value": "a"}]
	statements := manifest.statements(object.union(_pod([]), {"spec": {"containers": [{"name": "e", "image": "demo:k8s", "env": variables}]}}))
	statements.p.silent == ["extra_config"]
	{entry.name | some entry in statements.p.given} == {"ETCD_INITIAL_CLUSTER", "ETCD_NAME"}
}

quantities := [
	["512Mi", 536870912], ["512M", 512000000], ["1073741824", 1073741824], [1024, 1024], ["lots", null],
	["4e9", 4000000000], ["1.5E+9", 1500000000], ["15e-1", 2], ["4294967296000m", 4294967296], ["1500m", 2], ["1.05k", 1050],
	["0.5Gi", 536870912], ["1.5G", 1500000000], ["0", 0], ["4g", null], ["2GB", null], ["4096Mb", null], ["2gi", null],
]

test_quantity[text] if {
	some [quantity, expected] in quantities
	text := sprintf("%v", [quantity])
	limited := json.patch(_manifest, [{"op": "add", "path": "/spec/containers/0/resources", "value": {"limits": {"memory": quantity}}}])
	{expected} == {object.get(manifest.statements(limited).etcd.limit, "bytes", null)}
}

# Kubernetes refuses the whole manifest.
test_refused_limit[quantity] if {
	some quantity, reason in {
		"2GB": `Kubernetes refuses "2GB"; write 2Gi instead`,
		"2g": `Kubernetes refuses "2g"; write 2Gi instead`,
		"4096Mb": `Kubernetes refuses "4096Mb"; write 4096Mi instead`,
		"1.5 GiB": `Kubernetes refuses "1.5 GiB"; write 1.5Gi instead`,
		"{{ memory }}": null,
		"2Gi": null,
	}
	limited := json.patch(_manifest, [{"op": "add", "path": "/spec/containers/0/resources", "value": {"limits": {"memory": quantity}}}])
	{reason} == {object.get(manifest.statements(limited).etcd.unknown, ["resources.limits.memory", 1], null)}
}

# Without a command the image starts etcd. Settings that the model lacks go by their own spelling.
test_plain_container if {
	document := {
		"apiVersion": "v1",
		"kind": "Pod",
		"metadata": {"name": "x"},
		"spec": {"containers": [{"image": "etcd:3.6.1", "env": [{"name": "ETCD_VERIFY", "valueFrom": {}}, {"name": "ETCD_STRANGE", "value": "$(X)"}]}]},
	}
	found := manifest.statements(document).x
	found.unknown.ETCD_VERIFY[0] == "ETCD_VERIFY"
	found.unknown.ETCD_STRANGE[0] == "ETCD_STRANGE"
}

# The containers of a pod are distinguished by name.
test_two_containers if {
	two := json.patch(_manifest, [{"op": "add", "path": "/spec/containers/1", "value": {"name": "events", "image": "x", "command": ["etcd"]}}])
	object.keys(manifest.statements(two)) == {"etcd", "events"}
}

test_variables_of_the_command if {
	container := {
		"image": "team/app:1",
		"command": ["sh", "-c", "export ETCD_DATA_DIR=/data; GOGC=50 timeout 60 etcd --unsafe-no-fsync"],
		"env": [{"name": "GOGC", "value": "100"}],
		"volumeMounts": [{"name": "data", "mountPath": "/data"}],
	}
	spec := {"containers": [container], "volumes": [{"name": "data", "emptyDir": {}}]}
	found := manifest.statements({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}).a
	{[entry.name, entry.value] | some entry in found.given} == {
		["--unsafe-no-fsync", "true"],
		["ETCD_DATA_DIR", "/data"],
		["GOGC", "50"],
	}
	found.facts.data_fstype.value == "emptyDir"
}

test_exported_by_name if {
	script := concat("\n", [
		"ETCD_UNSAFE_NO_FSYNC=true",
		"ETCD_INITIAL_CLUSTER=$(discover --data-dir=/data)",
		"export ETCD_INITIAL_CLUSTER ETCD_UNSAFE_NO_FSYNC",
		"exec etcd --name a",
	])
	container := {"name": "etcd", "image": "etcd:v3.6.1", "command": ["sh", "-c", script]}
	found := manifest.statements({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}}).a
	{[entry.name, entry.value] | some entry in found.given} == {["--name", "a"], ["ETCD_UNSAFE_NO_FSYNC", "true"]}
	found.unknown.ETCD_INITIAL_CLUSTER == ["initial_cluster", "filled in at deployment"]
}

# A script may list the members of a static pod, or name a discovery service.
test_static_pod_whose_script_lists_members[line] if {
	some [line, expected] in [
		["ETCD_SNAPSHOT_COUNT=5", true],
		["ETCD_INITIAL_CLUSTER=a=https://10.0.0.1:2380,b=https://10.0.0.2:2380", false],
		["ETCD_DISCOVERY_SRV=example.net", false],
	]
	container := {"name": "etcd", "image": "etcd:v3.6.1", "command": ["sh", "-c", sprintf("export %s\netcd --name a", [line])]}
	document := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "kube-system"}, "spec": {"containers": [container]}}
	manifest.statements(document).a.alone == expected
}

test_two_mounts_at_one_path if {
	mounts := [{"name": "a", "mountPath": "/data"}, {"name": "b", "mountPath": "/data"}]
	volumes := [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}, "nfs": {}}, {"name": "b", "hostPath": {"path": "/b"}}]
	container := {"name": "etcd", "image": "etcd:v3.6.1", "command": ["etcd", "--data-dir=/data"], "volumeMounts": mounts}
	document := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container], "volumes": volumes}}
	manifest.statements(document).a.facts.data_fstype == {"name": `volumes["b"]`, "value": "emptyDir"}
}
