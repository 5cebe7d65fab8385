# METADATA
# title: Docker Compose files
# description: |
#   The services that run etcd. Command and environment may each be a text, a list or a map. ${NAME:-value} counts as the value.
package headroom.formats.compose

import data.headroom.formats.command_line
import data.headroom.formats.container
import data.headroom.formats.container_layer
import data.headroom.formats.statement_builder
import data.headroom.units

# Service → statement.
statements(document) := {name: _statement(service) |
	some name, written in document.services
	is_object(written)
	substituted := json.unmarshal(regex.replace(json.marshal(written), `\$\{\w+:?-([^}$"\\]*)\}`, "$1"))
	_runs_etcd(substituted)
	service := object.union(substituted, {"named_volumes": object.get(document, "volumes", {}), "written": written})
}

_runs_etcd(service) if container.runs_etcd(object.get(service, "image", null), _words(service))

_runs_etcd(service) if container.is_own_image(object.get(service, "image", null), _words(service), _environment(service))

_runs_etcd(service) if _is_started_by_hand(service)

_runs_etcd(service) if _is_named_after_etcd(service)

_runs_etcd(service) if _is_override(service)

# An override of a service whose image is in another file.
_is_override(service) if {
	count({"build", "image"} & object.keys(service)) == 0
	container.is_part_of_member(_words(service), _environment(service))
}

_is_named_after_etcd(service) if {
	ports := array.concat(object.get(service, "ports", []), object.get(service, "expose", []))
	container.is_named_after_etcd(object.get(service, "image", null), _words(service), ports)
}

_release(service) := container.no_release(service.image) if {
	_is_named_after_etcd(service)
} else := container.release(object.get(service, "image", null))

# A shell in etcd's image, in which someone starts a member by hand.
_is_started_by_hand(service) if {
	container.is_etcd(object.get(service, "image", null))
	regex.match(`^(.*/)?(ba|a)?sh$`, concat(" ", _words(service)))
	some port in service.ports
	regex.match(`(^|:)2380(/|$)`, sprintf("%v", [port]))
}

# An image that needs no variables may start several members.
_silent(service) := ["extra_config", "initial_cluster"] if {
	container.is_own_image(object.get(service, "image", null), _words(service), {})
} else := ["extra_config", "initial_cluster"] if {
	_is_override(service)
} else := ["extra_config"] if {
	not container.runs_etcd(object.get(service, "image", null), _words(service))
} else := ["data_dir"] if {
	some key in ["volumes_from", "working_dir"]
	service[key]
} else := container.may_set_data_dir(object.get(service, "image", null), _targets(service))

# Swarm may start a service several times.
_replicated(service) := ["initial_cluster"] if {
	service.deploy.mode == "global"
} else := ["initial_cluster"] if {
	not object.get(service, ["deploy", "replicas"], 1) in {0, 1}
} else := []

_settings_of(service) := {
	"command": [object.get(service, "entrypoint", ""), object.get(service, "command", "")],
	"environment": object.get(service, "environment", {}),
}

_words(service) := command_line.words([object.get(service, "entrypoint", ""), object.get(service, "command", "")])

_statement(service) := statement_builder.build("compose", container.unless_configured(object.get(service, "image", null), _targets(service), object.union_n([
	{
		"given": array.concat(command_line.flags(_words(service)), container.environment_of_image(object.get(service, "image", null), _words(service), environment)),
		"unknown": object.union_n([container.inherited(environment), container.placeholders(_words(service)), _other_files(service)]),
		"twice": object.union(container.repeated(_words(service)), container.emptied(_words(service), environment)),
	},
	_release(service),
	_completeness(service),
	_limit(service),
	_memlock(service),
	{"silent": array.concat(_silent(service), _replicated(service))},
	_data_volume(service),
]))) if {
	environment := _variables(service)
}

# Compose gives a service that it builds the image's name, but the image may have settings. The reader marks a service with values of a .env:
# the environment of Compose wins over those.
_completeness(service) := container.completeness(object.get(service, "image", null), _words(service), _settings_of(service.written)) if {
	not service.build
	not service["x-headroom-filled"]
} else := {}

# The volume with the data directory.
_data_volume(service) := object.union(on_host, {"facts": object.union_n([object.get(on_host, "facts", {}), in_memory, _type_of_volume(service), _in_layer(service)])}) if {
	on_host := container.data_on_host(_given(service), _folders(service))
	in_memory := {"data_fstype": {"name": sprintf("%s[%q]", [key, mount.source]), "value": "tmpfs"} |
		mount := container.data_mount(_given(service), {target: target | some target in _targets(service)})
		key := min(_memory_keys(service, mount.source))
	}
}

# A service that extends another, or takes the volumes of another, may have more of them.
_in_layer(service) := container_layer.facts(object.get(service, "image", null), _given(service), _targets(service), service.written) if {
	count({"build", "env_file", "extends", "volumes_from", "x-headroom-filled"} & object.keys(service)) == 0
} else := {}

# The filesystem that a named volume mounts, such as nfs.
_type_of_volume(service) := {"data_fstype": {"name": sprintf("volumes.%s.driver_opts.type", [name]), "value": type} |
	name := container.data_mount(_given(service), _folders(service)).source
	type := service.named_volumes[name].driver_opts.type
	type != "none"
}

# Where a service mounts memory at a path.
_memory_keys(service, target) := {"tmpfs" | target in _tmpfs(service)} | {"volumes" |
	some volume in service.volumes
	volume.type == "tmpfs"
	volume.target == target
}

# A path or a list of them, each perhaps with options.
_tmpfs(service) := {split(path, ":")[0] | some path in _list(service.tmpfs)} if {
	service.tmpfs
} else := set()

_list(value) := value if {
	is_array(value)
} else := [value]

_given(service) := array.concat(command_line.flags(_words(service)), container.environment(_variables(service)))

# Those that the command sets for etcd win.
_variables(service) := command_line.environment(_words(service), _environment(service))

# In a list the last value of a name counts.
_environment(service) := service.environment if {
	is_object(service.environment)
} else := object.union_n([{name: value} |
	some line in service.environment
	is_string(line)
	[name, value] := _pair(line)
])

_pair(line) := [substring(line, 0, at), substring(line, at + 1, -1)] if {
	at := indexof(line, "=")
	at > 0
} else := [line, null]

_other_files(service) := {sprintf("%s of the service", [key]): ["extra_config", "settings may come from there, and it is not read"] |
	some key in ["env_file", "extends"]
	service[key]
}

# [SOURCE:]TARGET[:MODE] or {source, target}.
_folders(service) := {target: max({source | some volume in service.volumes; _target(volume) == target; source := _source(volume)} | {""}) |
	some target in _targets(service)
}

_source(volume) := volume.source

_source(volume) := source if [source, _] := array.slice(split(volume, ":"), 0, 2)

_targets(service) := {target | some volume in service.volumes; target := _target(volume)} | _tmpfs(service)

_target(volume) := volume.target

_target(volume) := split(volume, ":")[1]

# A volume without a name has only a path.
_target(volume) := volume if {
	is_string(volume)
	not contains(volume, ":")
}

_limit(service) := {"limit": {"name": "deploy.resources.limits.memory", "bytes": bytes}} if {
	bytes := units.parse_size(service.deploy.resources.limits.memory)
} else := {"limit": {"name": "mem_limit", "bytes": bytes}} if {
	bytes := units.parse_size(service.mem_limit)
} else := {}

# -1 means unlimited.
_memlock(service) := {"memlock": {"name": "ulimits.memlock", "bytes": bytes}} if {
	bytes := units.parse_count(_soft(service.ulimits.memlock))
	bytes >= 0
} else := {}

_soft(limit) := limit.soft if {
	is_object(limit)
} else := limit
