# METADATA
# title: Variables of other roles
# description: |
#   Statements (see settings.statement) from the variables of kubespray, autobase (formerly postgresql_cluster), Pigsty and githubixx.etcd,
#   and from inventories with a map of etcd's environment variables.
package headroom.settings.other_roles

import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.settings.kubespray
import data.headroom.units

# These count in every format.
_shared := version_variables | {"etcd_workload", "etcd_memory_budget"}

# The names of variables with the release of etcd, or with an image of it. The first one in this order with a release counts.
_release_names := ["etcd_version", "etcd_ver", "etcd_release", "etcd_server_version", "etcd_release_version", "etcd_binary_version", "etcd_image_tag", "etcd_image", "etcd_docker_image"]

version_variables := {name | some name in _release_names}

_autobase := {
	"etcd_data_dir": "ETCD_DATA_DIR",
	"etcd_client_cert_auth": "ETCD_CLIENT_CERT_AUTH",
	"etcd_peer_client_cert_auth": "ETCD_PEER_CLIENT_CERT_AUTH",
}

# Variable → the setting in Pigsty's config file (roles/etcd/templates), written as its environment variable.
_pigsty := {
	"etcd_data": "ETCD_DATA_DIR",
	"etcd_election_timeout": "ETCD_ELECTION_TIMEOUT",
	"etcd_heartbeat_interval": "ETCD_HEARTBEAT_INTERVAL",
}

# The roles' own defaults of settings that rules check.
_defaults := {
	"kubespray": {
		"etcd_compaction_retention": "8",
		"etcd_quota_backend_bytes": "2147483648",
		"etcd_max_request_bytes": "1572864",
		"etcd_heartbeat_interval": "250",
		"etcd_election_timeout": "5000",
		"etcd_max_snapshots": "5",
		"etcd_max_wals": "5",
		"etcd_data_dir": "/var/lib/etcd",
		"etcd_secure_client": "true",
		"etcd_peer_client_auth": "true",
	},
	"autobase": {"etcd_data_dir": "/var/lib/etcd"},
	"pigsty": {
		"etcd_data": "/data/etcd",
		"etcd_election_timeout": "1000",
		"etcd_heartbeat_interval": "100",
	},
	"githubixx.etcd": {
		"auto-compaction-retention": "0",
		"snapshot-count": "100000",
		"heartbeat-interval": "100",
		"election-timeout": "1000",
		"max-snapshots": "5",
		"max-wals": "5",
		"client-cert-auth": "true",
		"peer-client-cert-auth": "true",
	},
}

# Constants in the roles' templates.
_fixed := {
	"kubespray": {
		"ETCD_TRUSTED_CA_FILE": "/etc/ssl/etcd/ssl/ca.pem",
		"ETCD_PEER_TRUSTED_CA_FILE": "/etc/ssl/etcd/ssl/ca.pem",
	},
	"autobase": {
		"ETCD_HEARTBEAT_INTERVAL": "1000",
		"ETCD_ELECTION_TIMEOUT": "5000",
	},
	"pigsty": {
		"ETCD_AUTO_COMPACTION_MODE": "periodic",
		"ETCD_AUTO_COMPACTION_RETENTION": "24h",
	},
}

# Settings with a default that depends on the role's release. autobase compacts since January 2024.
_silent("autobase", _, _) := ["auto_compaction_mode", "auto_compaction_retention"]

# Newer releases of Pigsty set a quota of 16 GiB, older ones none.
_silent("pigsty", _, _) := ["quota_backend_bytes"]

# kubeadm passes certificates. Without the deployment nobody knows what becomes of etcd_extra_vars.
_silent("kubespray", variables, unknown) := array.concat(
	["snapshot_count" | not kubespray.snapshot_count(variables)],
	object.get({"kubeadm": data.headroom.vocabularies.kubeadm.sets, "unknown": ["extra_config"]}, kubespray.deployment(variables, unknown), []),
)

_silent(format, _, _) := [] if not format in {"autobase", "kubespray", "pigsty"}

_default("kubespray", "etcd_snapshot_count", variables) := kubespray.snapshot_count(variables)

_default(role, variable, _) := _defaults[role][variable]

# Format → the variables that rules about members read, in addition to an inventory's own maps of the environment.
member_variables := {
	"kubespray": ((_shared | object.keys(kubespray.variables)) | {
		"etcd_extra_vars",
		"etcd_memory_limit",
		"etcd_deployment_type",
		"etcd_kubeadm_enabled",
		"kube_version",
	}),
	"autobase": (_shared | object.keys(_autobase)),
	"pigsty": (_shared | object.keys(_pigsty)),
	"githubixx.etcd": (_shared | {"etcd_settings", "etcd_settings_user", "etcd_data_dir"}),
	"environment": _shared,
}

# unknown: variable → reason; maps: the variables with etcd's environment if the format is "environment".
statement(format, variables, unknown, maps) := {
	"format": format,
	"given": _given(format, variables, unknown, maps),
	"version": version(variables),
	"limit": _limit(format, variables, unknown),
	"default_limit": _default_limit(format, variables, unknown),
	"workload": _map(variables, "etcd_workload"),
	"unknown": object.union(
		{variable: [_canonical_name(format, variable), reason] | some variable, reason in unknown; not _is_without_effect(format, variable, variables, unknown)},
		{"etcd_version": ["version", _why_no_version(format, variables)] | not unknown.etcd_version; version(variables) == null},
	),
	"kubernetes": format in {"kubespray", "githubixx.etcd"},
	"silent": _silent(format, variables, unknown),
}

# The release that a role's variables name, else null. Names may be in upper case, and `version` in a map called etcd.
version(variables) := found[0] if {
	found := [release |
		texts := {lower(name): _text(variables, name) | some name, _ in variables}
		some text in array.concat(
			[texts[name] | some name in _release_names],
			[sprintf("%v", [about.version]) | some name, value in variables; some about in _about_etcd(name, value)],
		)
		parts := split(text, ":")
		release := releases.parse(parts[count(parts) - 1])
		_is_release_of_etcd(parts, release)
	]
} else := null

# The tag of an image may be its author's own.
_is_release_of_etcd([_], _)

_is_release_of_etcd(_, release) if releases.is_known(release)

# The maps called etcd with a version, such as kubernetes.components.etcd.
_about_etcd(name, value) := [about |
	is_object(value)
	some about in array.concat(
		array.concat([value | lower(name) == "etcd"], [about | about := value.etcd]),
		[inner.etcd | some inner in value],
	)
	about.version
]

# The variables that name a release.
with_version(variables) := {name |
	some name, value in variables
	_names_release(name, value)
}

_names_release(name, _) if lower(name) in version_variables

_names_release(name, value) if count(_about_etcd(name, value)) > 0

_text(variables, name) := sprintf("%v", [object.get(variables, name, "")])

_why_no_version(format, variables) := sprintf("%q names no release", [_text(variables, "etcd_version")]) if {
	object.get(variables, "etcd_version", null) != null
} else := sprintf("it is not set, and %s", [kubespray.installed(variables)]) if {
	format == "kubespray"
} else := "it is not set, and the default depends on the role's own release" if {
	format != "environment"
} else := "it is not set"

# The canonical name of an unknown variable; a map may contain any setting.
_canonical_name(format, variable) := name if {
	spelt := {"kubespray": kubespray.variables, "autobase": _autobase, "pigsty": _pigsty}[format][variable]
	name := spelling.setting(null, "env", spelt)
} else := "limit" if {
	variable in {"etcd_memory_limit", "etcd_deployment_type"}
} else := trim_prefix(variable, "etcd_") if {
	variable in _shared
} else := "extra_config"

_given("kubespray", variables, unknown, _) := _of_kubespray(kubespray.deployment(variables, unknown), variables, unknown)

# etcd_extra_vars are the last lines of etcd.env. Both systemd and docker run --env-file take the last line of a variable.
_of_kubespray(deployment, variables, unknown) := array.concat(
	_without(
		array.concat(_one_variable_each("kubespray", kubespray.variables_of(deployment), variables, unknown), _constants("kubespray")),
		_map(variables, "etcd_extra_vars"),
	),
	_environment("etcd_extra_vars", variables),
) if {
	deployment in {"docker", "host"}
}

# Both they and the other variables become arguments that kubeadm passes to etcd.
_of_kubespray("kubeadm", variables, unknown) := array.concat(
	_without(
		array.concat(
			[object.union(entry, {"form": "flag", "spelling": spelling.as_flag("env", entry.spelling)}) |
				some entry in _one_variable_each("kubespray", kubespray.variables_of("kubeadm"), variables, unknown)
			],
			[{"name": sprintf("kubeadm's default --%s", [default_of.spelling]), "form": "flag", "spelling": default_of.spelling, "value": default_of.value} |
				some default_of in data.headroom.vocabularies.kubeadm.defaults
				not default_of.spelling in kubespray.flags
			],
		),
		_map(variables, "etcd_extra_vars"),
	),
	_flags("etcd_extra_vars", _map(variables, "etcd_extra_vars")),
)

_of_kubespray("unknown", variables, unknown) := _one_variable_each("kubespray", kubespray.variables_of("unknown"), variables, unknown)

# The entries that a map does not replace.
_without(entries, replaced) := [entry | some entry in entries; not entry.spelling in object.keys(replaced)]

_is_without_effect("kubespray", variable, variables, unknown) if {
	kubespray.variables[variable]
	kubespray.deployment(variables, unknown) == "kubeadm"
	not kubespray.variables_of("kubeadm")[variable]
}

_given("autobase", variables, unknown, _) := array.concat(
	_one_variable_each("autobase", _autobase, variables, unknown),
	_constants("autobase"),
)

_given("pigsty", variables, unknown, _) := array.concat(
	_one_variable_each("pigsty", _pigsty, variables, unknown),
	_constants("pigsty"),
)

_given("environment", variables, _, maps) := [entry |
	some name in sort(maps)
	some entry in _environment(name, variables)
]

# etcd_settings replaces the role's defaults as a whole, etcd_settings_user overrides single keys.
_given("githubixx.etcd", variables, unknown, _) := array.concat(
	_without(
		array.concat(_flags("etcd_settings", _not_empty(_map(variables, "etcd_settings"))), _githubixx_defaults(variables, unknown)),
		_map(variables, "etcd_settings_user"),
	),
	_flags("etcd_settings_user", _not_empty(_map(variables, "etcd_settings_user"))),
)

# The role omits an empty setting, so etcd's default applies.
_not_empty(flags) := {flag: value | some flag, value in flags; value != ""}

_constants(role) := [{"name": sprintf("%s's fixed %s", [role, spelt]), "form": "env", "spelling": spelt, "value": value} |
	some spelt, value in _fixed[role]
]

_flags(name, flags) := [{"name": sprintf("%s[%q]", [name, flag]), "form": "flag", "spelling": flag, "value": value} |
	some flag, value in flags
]

_githubixx_defaults(variables, unknown) := [entry |
	not is_object(object.get(variables, "etcd_settings", null))
	count({"etcd_settings", "etcd_settings_user"} & object.keys(unknown)) == 0
	some flag, value in _defaults["githubixx.etcd"]
	entry := {
		"name": sprintf("githubixx.etcd's default etcd_settings[%q]", [flag]),
		"form": "flag",
		"spelling": flag,
		"value": value,
	}
]

_one_variable_each(role, spelt, variables, unknown) := [{"name": name, "form": "env", "spelling": variable_of_etcd, "value": value} |
	some variable, variable_of_etcd in spelt
	not unknown[variable]
	[name, value] := _set_or_default(role, variable, variables)
]

_set_or_default(role, variable, variables) := [variable, variables[variable]] if {
	object.get(variables, variable, null) != null
} else := [sprintf("%s's default %s", [role, variable]), _default(role, variable, variables)]

_environment(name, variables) := [{"name": sprintf("%s[%q]", [name, spelt]), "form": "env", "spelling": spelt, "value": value} |
	some spelt, value in _map(variables, name)
	spelling.is_etcd_variable(spelt)
]

_map(variables, name) := variables[name] if {
	is_object(variables[name])
} else := {}

# kubespray passes etcd_memory_limit to Docker only; 0 means no limit.
_limit(format, variables, unknown) := {"name": "etcd_memory_limit", "bytes": bytes} if {
	format == "kubespray"
	kubespray.deployment(variables, unknown) == "docker"
	bytes := units.parse_size(variables.etcd_memory_limit)
	bytes > 0
} else := {"name": "etcd_memory_budget", "bytes": units.parse_size(variables.etcd_memory_budget)} if {
	units.parse_size(variables.etcd_memory_budget)
} else := {"name": "etcd_memory_budget"}

# A default limit that depends on facts of the host: {name, bytes, where}, else null.
_default_limit(format, variables, unknown) := {
	"name": "kubespray's default etcd_memory_limit",
	"bytes": 536870912,
	"where": "on hosts with less than 4 GiB",
} if {
	format == "kubespray"
	kubespray.deployment(variables, unknown) == "docker"
	object.get(variables, "etcd_memory_limit", null) == null
	not unknown.etcd_memory_limit
} else := null
