# METADATA
# title: Variables of other roles
# description: |
#   Statements (see settings.statement) from the variables of kubespray, autobase (formerly postgresql_cluster), Pigsty and githubixx.etcd,
#   and from inventories with a map of etcd's environment variables.
package headroom.settings.other_roles

import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.units

# These count in every format.
_shared := version_variables | {"etcd_workload", "etcd_memory_budget"}

# The names of variables with the release of etcd, or with an image of it. The first one in this order with a release counts.
_release_names := ["etcd_version", "etcd_ver", "etcd_release", "etcd_server_version", "etcd_release_version", "etcd_binary_version", "etcd_image_tag", "etcd_image", "etcd_docker_image"]

version_variables := {name | some name in _release_names}

# Variable → the environment variable that kubespray writes.
_kubespray := {
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
_silent("autobase", _) := ["auto_compaction_mode", "auto_compaction_retention"]

# Newer releases of Pigsty set a quota of 16 GiB, older ones none.
_silent("pigsty", _) := ["quota_backend_bytes"]

_silent("kubespray", variables) := [] if {
	_default("kubespray", "etcd_snapshot_count", variables)
} else := ["snapshot_count"]

_silent(format, _) := [] if not format in {"autobase", "kubespray", "pigsty"}

# kubespray 2.28 (2025) raised snapshot-count. The same release writes kube_version without the letter, and installs Kubernetes 1.30 or newer.
_default("kubespray", "etcd_snapshot_count", variables) := "100000" if {
	_kubernetes_minor(variables, `^1\.([0-9]+)(\.|$)`) >= 30
} else := "10000" if {
	_kubernetes_minor(variables, `^v1\.([0-9]+)(\.|$)`) <= 31
}

_default(role, variable, _) := _defaults[role][variable]

_kubernetes_minor(variables, pattern) := to_number(regex.find_all_string_submatch_n(pattern, _text(variables, "kube_version"), 1)[0][1])

# Kubernetes minor version → the oldest and the newest etcd that kubespray's releases since 2.16 install for it (etcd_supported_versions).
_kubespray_etcd := {
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

# Format → the variables that rules about members read, in addition to an inventory's own maps of the environment.
member_variables := {
	"kubespray": ((_shared | object.keys(_kubespray)) | {"etcd_extra_vars", "etcd_memory_limit", "etcd_deployment_type", "kube_version"}),
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
	"limit": _limit(format, variables),
	"default_limit": _default_limit(format, variables, unknown),
	"workload": _map(variables, "etcd_workload"),
	"unknown": object.union(
		{variable: [_canonical_name(format, variable), reason] | some variable, reason in unknown},
		{"etcd_version": ["version", _why_no_version(format, variables)] | not unknown.etcd_version; version(variables) == null},
	),
	"kubernetes": format in {"kubespray", "githubixx.etcd"},
	"silent": _silent(format, variables),
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
} else := sprintf("it is not set, and kubespray installs %s for Kubernetes 1.%d, by its own release", [_range(_kubespray_etcd[minor]), minor]) if {
	format == "kubespray"
	minor := _kubernetes_minor(variables, `^v?1\.([0-9]+)(\.|$)`)
	_kubespray_etcd[minor]
} else := "it is not set, and the default depends on the role's own release" if {
	format != "environment"
} else := "it is not set"

_range([oldest, newest]) := oldest if {
	oldest == newest
} else := sprintf("%s to %s", [oldest, newest])

# The canonical name of an unknown variable; a map may contain any setting.
_canonical_name(format, variable) := name if {
	spelt := {"kubespray": _kubespray, "autobase": _autobase, "pigsty": _pigsty}[format][variable]
	name := spelling.setting(null, "env", spelt)
} else := "limit" if {
	variable in {"etcd_memory_limit", "etcd_deployment_type"}
} else := trim_prefix(variable, "etcd_") if {
	variable in _shared
} else := "extra_config"

# etcd_extra_vars are the last lines of etcd.env. Both systemd and docker run --env-file take the last line of a variable.
_given("kubespray", variables, unknown, _) := array.concat(
	[entry |
		some entry in array.concat(_one_variable_each("kubespray", _kubespray, variables, unknown), _constants("kubespray"))
		not entry.spelling in object.keys(_map(variables, "etcd_extra_vars"))
	],
	_environment("etcd_extra_vars", variables),
)

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
	[entry |
		some entry in array.concat(_flags("etcd_settings", variables), _githubixx_defaults(variables, unknown))
		not entry.spelling in object.keys(_map(variables, "etcd_settings_user"))
	],
	_flags("etcd_settings_user", variables),
)

_constants(role) := [{"name": sprintf("%s's fixed %s", [role, spelt]), "form": "env", "spelling": spelt, "value": value} |
	some spelt, value in _fixed[role]
]

_flags(name, variables) := [{"name": sprintf("%s[%q]", [name, flag]), "form": "flag", "spelling": flag, "value": value} |
	some flag, value in _map(variables, name)

	# The role omits such a setting, so etcd's default applies.
	value != ""
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
_limit(format, variables) := {"name": "etcd_memory_limit", "bytes": bytes} if {
	format == "kubespray"
	variables.etcd_deployment_type == "docker"
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
	variables.etcd_deployment_type == "docker"
	object.get(variables, "etcd_memory_limit", null) == null
	not unknown.etcd_memory_limit
} else := null
