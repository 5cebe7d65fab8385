package headroom_test.formats.compose

import data.headroom.formats.compose

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

# The tag of an image that is named after etcd, or of an image of something else, is its own. So is a tag of a series that etcd never published.
tags := [
	[{"image": "team/my-etcd:1.0", "command": "etcd"}, null],
	[{"image": "team/etcd:0.2.1", "command": "etcd"}, null],
	[{"image": "team/etcd:2.4.1", "command": "etcd"}, null],
	[{"image": "team/etcd:3.99.1", "command": "etcd"}, null],
	[{"image": "team/etcd:v2.3.8", "command": "etcd"}, "2.3.8"],
	[{"image": "quay.io/coreos/etcd:v0.4.6", "command": "etcd"}, "0.4.6"],
	[{"image": "registry.k8s.io/etcd:3.99.1-0", "command": "etcd"}, "3.99.1"],
	[{"image": "team/my-etcd:2.0.1", "ports": ["2380:2380"]}, null],
	[{"image": "team/app:2.0.1", "command": "etcd"}, null],
	[{"image": "team/my-etcd:3.5.9-0", "command": "etcd"}, "3.5.9"],
]

test_tags[note] if {
	some [service, expected] in tags
	note := json.marshal(service)
	compose.statements({"services": {"x": service}}).x.version == expected
}

# Swarm may start a service several times, and a proxy is not a member.
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

# A product of numbers in a shell, and its value; null if it is unknown.
products := [
	["$((4*1024*1024*1024))", "4294967296"],
	["$$((2048))", "2048"],
	["$((2*N))", null],
	["$((2+2))", null],
]

test_products[written] if {
	some [written, value] in products
	service := {"image": "quay.io/coreos/etcd:v3.5.35", "command": ["sh", "-c", sprintf("etcd --quota-backend-bytes %s", [written])]}
	found := compose.statements({"services": {"x": service}}).x
	[entry.value | some entry in found.given] == [value | value != null]
}

# [the script before etcd, the command in it that may set any variable]
scripts_with_sources := [
	[". /run/etcd.env;", ". /run/etcd.env"],
	["set -a; source ${ENV_FILE} &&", "source ${ENV_FILE}"],
	["export $(cat /run/etcd.env) &&", "export $(cat"],
	["exec env `cat /run/etcd.env`", "env `cat"],
	[". /lib/lsb/init-functions;", null],
	["export A=b && ls . ;", null],
	["", null],
]

test_sources[note] if {
	some [script, source] in scripts_with_sources
	note := script
	service := {"image": "etcd:v3.5.18", "command": ["/bin/sh", "-ec", sprintf("%s exec etcd --name a", [script])]}
	expected := {source: ["extra_config", "settings may come from there, and it is not read"] | source != null}
	compose.statements({"services": {"a": service}}).a.unknown == expected
}

test_variables_of_the_command if {
	command := "sh -c 'export ETCD_DATA_DIR=/data; GOGC=50 ETCD_NAME=b exec etcd --unsafe-no-fsync'"
	service := {"image": "team/app:1", "command": command, "environment": {"ETCD_NAME": "a"}, "volumes": ["/srv:/data"]}
	found := compose.statements({"services": {"a": service}}).a
	{[entry.name, entry.value] | some entry in found.given} == {
		["--unsafe-no-fsync", "true"],
		["ETCD_DATA_DIR", "/data"],
		["ETCD_NAME", "b"],
		["GOGC", "50"],
	}
	found.mounted == ["data_dir"]
}

# Compose refuses two mounts at one path.
test_two_mounts_at_one_path if {
	volume := {"type": "tmpfs", "target": "/data"}
	service := {"image": "etcd:v3.6.1", "command": "etcd --data-dir=/data", "tmpfs": "/data", "volumes": [volume, "a:/data", "/b:/data"]}
	found := compose.statements({"services": {"a": service}}).a
	found.facts.data_fstype == {"name": `tmpfs["/data"]`, "value": "tmpfs"}
}
