# METADATA
# title: Kubernetes manifests
# description: The containers that run etcd, in a static pod as kubeadm writes it or in any workload with a pod template.
package headroom.formats.manifest

import data.headroom.files
import data.headroom.formats.command_line
import data.headroom.formats.container
import data.headroom.formats.container_layer
import data.headroom.formats.quantity
import data.headroom.formats.statement_builder

# Pod, or container if a pod has several with etcd → statement.
statements(document) := object.union_n([{_name(document, candidate, containers): _statement(document, candidate)} |
	containers := {candidate |
		some candidate in _spec(document).containers
		is_object(candidate)
		_runs_etcd(candidate)
	}
	some candidate in containers
])

_runs_etcd(spec) if container.runs_etcd(object.get(spec, "image", null), _words(spec))

_runs_etcd(spec) if container.is_own_image(object.get(spec, "image", null), _words(spec), _environment(spec))

_runs_etcd(spec) if _is_named_after_etcd(spec)

# A patch, whose image is in another file.
_runs_etcd(spec) if {
	not "image" in object.keys(spec)
	container.is_part_of_member(_words(spec), _environment(spec))
}

_is_named_after_etcd(spec) if container.is_named_after_etcd(object.get(spec, "image", null), _words(spec), [port.containerPort | some port in spec.ports])

_release(spec) := container.no_release(spec.image) if {
	_is_named_after_etcd(spec)
} else := container.release(object.get(spec, "image", null))

_spec(document) := document.spec if {
	document.kind == "Pod"
} else := document.spec.template.spec if {
	document.kind in {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "DeploymentConfig", "PetSet"}
}

_name(document, candidate, containers) := sprintf("%v", [object.get(document, ["metadata", "name"], object.get(candidate, "name", "etcd"))]) if {
	count(containers) == 1
} else := sprintf("%v", [object.get(candidate, "name", "etcd")])

# Kubernetes replaces $(NAME), and a shell ${NAME}, by the variables of the container.
_words(spec) := [_with_variable(spec, strings.replace_n(_replacements(spec), word)) |
	some word in command_line.words([object.get(spec, "command", []), object.get(spec, "args", [])])
]

# A shell replaces $NAME, too.
_with_variable(spec, word) := concat("", [flag, value]) if {
	[_, flag, name] := regex.find_all_string_submatch_n(`^(--?[A-Za-z-]+=)?\$(\w+)$`, word, 1)[0]
	value := _environment(spec)[name]
	is_string(value)
} else := word

_replacements(spec) := {written: value |
	some name, value in _environment(spec)
	is_string(value)
	not contains(value, "$")
	some written in [sprintf("$(%s)", [name]), sprintf("${%s}", [name])]
}

# Those that the command sets for etcd win.
_variables(spec) := command_line.environment(_words(spec), _environment(spec))

# The last value of a name counts, and one of the container's own wins over one of a ConfigMap.
_environment(spec) := object.union_n(array.concat(
	[_from_config_map(source) | some source in object.get(spec, "envFrom", []); _is_read(source)],
	[{name: value} |
		some variable in object.get(spec, "env", [])
		name := variable.name
		value := object.get(variable, "value", null)
	],
))

_from_config_map(source) := {name: value |
	some key, value in _config_maps[source.configMapRef.name]
	name := concat("", [object.get(source, "prefix", ""), key])
}

_is_read(source) if _config_maps[source.configMapRef.name]

# Name → data of the ConfigMaps among the files. Two of one name are in two namespaces, or variants.
_config_maps := {name: found |
	some name, candidates in _config_maps_by_name
	count(candidates) == 1
	some found in candidates
}

_config_maps_by_name[name] contains found if {
	some entry in files.entries
	entry.contents.kind == "ConfigMap"
	name := entry.contents.metadata.name
	found := entry.contents.data
	is_object(found)
}

_statement(document, spec) := statement_builder.build("manifest", container.unless_configured(object.get(spec, "image", null), _filled_targets(document, spec), object.union_n([
	{
		"given": array.concat(command_line.flags(_words(spec)), container.environment_of_image(object.get(spec, "image", null), _words(spec), environment)),
		"unknown": object.union_n([container.inherited(environment), container.placeholders(_words(spec)), _other_sources(spec), _refused_limit(spec)]),
		"kubernetes": _serves_kubernetes(document),
		"silent": _silent(spec),
		"alone": _is_alone(document, spec),
		"replicas": _replicas(document),
		"twice": object.union(container.repeated(_words(spec)), container.emptied(_words(spec), environment)),
	},
	_release(spec),
	_limit(spec),
	_volume(document, spec),
]))) if {
	environment := _variables(spec)
}

# Several Deployments or Pods may find each other by a discovery service.
_is_alone(document, spec) if {
	document.kind in {"Deployment", "StatefulSet", "ReplicationController", "DeploymentConfig", "PetSet"}
	_is_one(document)
	not _discovers_others(document, spec)
} else if {
	document.kind == "Pod"
	_is_certain(document, spec)
	not _discovers_others(document, spec)
} else := false

_is_one(document) if document.spec.replicas == 1

# Without `replicas` Kubernetes starts one. A patch has no labels: the workload that it changes sets the number.
_is_one(document) if {
	document.kind in {"Deployment", "StatefulSet", "PetSet"}
	not "replicas" in object.keys(document.spec)
	count(document.spec.template.metadata.labels) > 0
}

# A static pod lists the members at the time when its member joined. Without a list, or with its own loopback address, it has no others.
_is_certain(document, _) if not _is_static(document)

_is_certain(_, spec) if {
	words := _words(spec)
	container.runs_etcd(object.get(spec, "image", null), words)
	lists := [entry.value |
		some entry in array.concat(command_line.flags(words), container.environment(_variables(spec)))
		entry.spelling in {"config-file", "initial-cluster", "ETCD_CONFIG_FILE", "ETCD_INITIAL_CLUSTER"}
	]
	every list in lists { regex.match(`^[^=,]+=https?://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?/?$`, list) }
	count(container.placeholders(words)) == 0
	count(object.get(spec, "envFrom", [])) == 0
}

# Each Pod of a StatefulSet is a member. Until Kubernetes 1.5 it was called PetSet.
_replicas(document) := document.spec.replicas if {
	document.kind in {"StatefulSet", "PetSet"}
	document.spec.replicas > 0
} else := null

_is_static(document) if document.spec.hostNetwork

_is_static(document) if document.metadata.namespace == "kube-system"

_discovers_others(document, spec) if {
	document.kind in {"Deployment", "Pod"}
	some word in ({word | some word in _words(spec)} | object.keys(_variables(spec)))
	regex.match(`^(--|ETCD_)(?i)discovery`, word)
}

# By the namespace, as only kubeadm labels its manifest. An API server compacts the etcd that it uses. Others there belong to
# a network, such as calico-etcd.
_serves_kubernetes(document) if {
	document.metadata.namespace == "kube-system"
	regex.match(`^(kube[a-z]*-|k8s-|master-)?etcd`, object.get(document.metadata, "name", "etcd"))
} else := false

_silent(spec) := ["extra_config"] if {
	not container.runs_etcd(object.get(spec, "image", null), _words(spec))
} else := ["data_dir"] if {
	spec.workingDir
} else := container.may_set_data_dir(object.get(spec, "image", null), _targets(spec))

_targets(spec) := {mount.mountPath | some mount in spec.volumeMounts}

# Without empty volumes, which newer charts mount over folders that the image only reads.
_filled_targets(document, spec) := _targets(spec) - {mount.mountPath |
	some mount in spec.volumeMounts
	some volume in _spec(document).volumes
	volume.name == mount.name
	volume.emptyDir
}

_other_sources(spec) := {"envFrom": ["extra_config", "settings may come from there, and it is not read"]} if {
	some source in spec.envFrom
	not _is_read(source)
} else := {}

_limit(spec) := {"limit": {"name": "resources.limits.memory", "bytes": bytes}} if {
	bytes := quantity.bytes(spec.resources.limits.memory)
} else := {}

_refused_limit(spec) := {"resources.limits.memory": ["memory_limit", reason]} if {
	reason := quantity.refusal(spec.resources.limits.memory)
} else := {}

# A kind of volume → its filesystem.
_types_of_volumes := {"cephfs": "ceph", "emptyDir": "emptyDir", "glusterfs": "glusterfs", "nfs": "nfs"}

# The volume with the data directory.
_volume(document, spec) := object.union(on_host, {"facts": object.union_n([
	object.get(on_host, "facts", {}),
	container_layer.facts(object.get(spec, "image", null), given, _targets(spec), _spec(document)),
	{"data_fstype": {"name": sprintf("volumes[%q]", [mount.source]), "value": type} |
		mount := container.data_mount(given, names)

		# Kubernetes refuses two volumes of one name, and two mounts at one path.
		type := min({type |
			some volume in _spec(document).volumes
			volume.name == mount.source
			some key, type in _types_of_volumes
			is_object(volume[key])
		})
	},
])}) if {
	given := array.concat(command_line.flags(_words(spec)), container.environment(_variables(spec)))
	names := {path: max({mount.name | some mount in spec.volumeMounts; mount.mountPath == path}) | some path in _targets(spec)}
	folders := {path: max({object.get(volume, ["hostPath", "path"], "") | some volume in _spec(document).volumes; volume.name == name} | {""}) | some path, name in names}
	on_host := container.data_on_host(given, folders)
}
