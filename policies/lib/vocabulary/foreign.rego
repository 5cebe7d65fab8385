# METADATA
# title: The variables of other roles
# description: |
#   Statements of kubespray, of autobase (formerly postgresql_cluster), of githubixx.etcd, and of inventories that hold etcd's
#   environment in a map, from a host's variables. stated.rego says what a statement is.
package headroom.vocabulary.foreign

import data.headroom.units
import data.headroom.vocabulary.spelling
import data.headroom.vocabulary.stated

# What no role has a word for, or all have the same: it counts whatever the vocabulary.
_shared := {"etcd_version", "etcd_workload", "etcd_memory_budget"}

# Variable → the environment variable that the role writes.
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

# What each role writes where the inventory is silent: everything that rules judge.
_defaults := {
	"kubespray": {
		"etcd_snapshot_count": "100000",
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

# Written into autobase's template, without a variable.
_autobase_fixed := {
	"ETCD_HEARTBEAT_INTERVAL": "1000",
	"ETCD_ELECTION_TIMEOUT": "5000",
	"ETCD_AUTO_COMPACTION_RETENTION": "1",
}

# Vocabulary → the variables that count. An inventory's own maps of the environment come on top.
relevant := {
	"kubespray": ((_shared | object.keys(_kubespray)) | {"etcd_extra_vars", "etcd_memory_limit", "etcd_deployment_type"}),
	"autobase": (_shared | object.keys(_autobase)),
	"githubixx.etcd": (_shared | {"etcd_settings", "etcd_settings_user", "etcd_data_dir"}),
	"environment": _shared,
}

# The statement of one host. variables and unknown (variable → why) are those that count; maps: the variables that hold etcd's
# environment, in an inventory whose vocabulary is "environment".
statement(vocabulary, variables, unknown, maps) := {
	"vocabulary": vocabulary,
	"given": _given(vocabulary, variables, unknown, maps),
	"version": _version(variables),
	"limit": _limit(vocabulary, variables),
	"default_limit": _default_limit(vocabulary, variables, unknown),
	"workload": _map(variables, "etcd_workload"),
	"unknown": object.union(
		{variable: [_about(vocabulary, variable), reason] | some variable, reason in unknown},
		{"etcd_version": ["version", _why_no_version(vocabulary, variables)] | not unknown.etcd_version; _version(variables) == null},
	),
	"kubernetes": vocabulary in {"kubespray", "githubixx.etcd"},
}

_version(variables) := release if {
	release := stated.release(_text(variables, "etcd_version"))
} else := null

_text(variables, name) := sprintf("%v", [object.get(variables, name, "")])

_why_no_version(vocabulary, variables) := sprintf("%q names no release", [_text(variables, "etcd_version")]) if {
	object.get(variables, "etcd_version", null) != null
} else := "it is not set, and the default depends on the role's own release" if {
	vocabulary != "environment"
} else := "it is not set"

# The canonical name that an unknown variable stands for; a map may hold any setting.
_about(vocabulary, variable) := name if {
	spelt := {"kubespray": _kubespray, "autobase": _autobase}[vocabulary][variable]
	name := spelling.setting(null, "env", spelt)
} else := "limit" if {
	variable in {"etcd_memory_limit", "etcd_deployment_type"}
} else := trim_prefix(variable, "etcd_") if {
	variable in _shared
} else := "extra_config"

_given("kubespray", variables, unknown, _) := array.concat(
	_flat("kubespray", _kubespray, variables, unknown),
	_environment("etcd_extra_vars", variables),
)

_given("autobase", variables, unknown, _) := array.concat(
	_flat("autobase", _autobase, variables, unknown),
	[{"name": sprintf("autobase's fixed %s", [spelt]), "form": "env", "spelling": spelt, "value": value} |
		some spelt, value in _autobase_fixed
	],
)

_given("environment", variables, _, maps) := [entry |
	some name in sort(maps)
	some entry in _environment(name, variables)
]

# etcd_settings replaces the role's own map as a whole, etcd_settings_user goes over it key by key.
_given("githubixx.etcd", variables, unknown, _) := array.concat(
	[entry |
		some entry in array.concat(_flags("etcd_settings", variables), _githubixx_defaults(variables, unknown))
		not entry.spelling in object.keys(_map(variables, "etcd_settings_user"))
	],
	_flags("etcd_settings_user", variables),
)

_flags(name, variables) := [{"name": sprintf("%s[%q]", [name, flag]), "form": "flag", "spelling": flag, "value": value} |
	some flag, value in _map(variables, name)

	# The role's way to leave a setting to etcd.
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

# One variable for each setting.
_flat(role, spelt, variables, unknown) := [{"name": name, "form": "env", "spelling": variable_of_etcd, "value": value} |
	some variable, variable_of_etcd in spelt
	not unknown[variable]
	[name, value] := _stated_or_default(role, variable, variables)
]

_stated_or_default(role, variable, variables) := [variable, variables[variable]] if {
	object.get(variables, variable, null) != null
} else := [sprintf("%s's default %s", [role, variable]), _defaults[role][variable]]

_environment(name, variables) := [{"name": sprintf("%s[%q]", [name, spelt]), "form": "env", "spelling": spelt, "value": value} |
	some spelt, value in _map(variables, name)
	of_etcd(spelt)
]

# Whether a variable of the environment is for etcd, or for Go's runtime in it.
of_etcd(spelt) if regex.match(`^(ETCD_|GOGC$|GOMEMLIMIT$)`, spelt)

_map(variables, name) := variables[name] if {
	is_object(variables[name])
} else := {}

# kubespray hands etcd_memory_limit to docker, and to nothing else; 0 is none.
_limit(vocabulary, variables) := {"name": "etcd_memory_limit", "bytes": bytes} if {
	vocabulary == "kubespray"
	variables.etcd_deployment_type == "docker"
	bytes := units.parse_size(variables.etcd_memory_limit)
	bytes > 0
} else := {"name": "etcd_memory_budget", "bytes": units.parse_size(variables.etcd_memory_budget)} if {
	units.parse_size(variables.etcd_memory_budget)
} else := {"name": "etcd_memory_budget"}

# The limit that a role sets where the inventory is silent, if that depends on what is not known here: {name, bytes, where}; else null.
_default_limit(vocabulary, variables, unknown) := {
	"name": "kubespray's default etcd_memory_limit",
	"bytes": 536870912,
	"where": "on hosts with less than 4 GiB",
} if {
	vocabulary == "kubespray"
	variables.etcd_deployment_type == "docker"
	object.get(variables, "etcd_memory_limit", null) == null
	not unknown.etcd_memory_limit
} else := null
