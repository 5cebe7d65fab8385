# METADATA
# title: Variables of Headroom's roles
# description: |
#   Reads a host's variables as Headroom's roles do.
#
#   `member` describes etcd itself, and is `etcd` in the profiles of clusters:
#   - version: the release
#   - planned: whether the plan chooses what is not pinned
#   - workload: as the user wrote it
#   - settings: canonical name → value, with gogc, gomemlimit, memory_high and memory_max
#   - names: canonical name → what the user calls it
#   - given: the settings as releases.spelling knows them, [{name, form, spelling, value}]
#   - twice: canonical name → the places that set it, if there are several
#   - limit: {name, bytes} of the limit on memory, without bytes if none is stated
#   - data_size: bytes of the data volume, else null
#   - unknown: canonical names without a known value; extra_config stands for any setting
#
#   Only members of Headroom's roles have:
#   - owned: canonical name → the entry of etcd_extra_config with a setting that the role refuses there, and `instead`
#
#   Only members from other formats have:
#   - format
#   - kubernetes: whether an API server compacts this etcd
#   - complete: whether nothing else can set a setting
#   - config_file: what passes etcd a config file; missing if nothing does
#   - default_limit: a limit of the role that may apply, else null
#   - memlock: {name, bytes} of the limit on what etcd may lock in memory, else null
#
#   `host` describes the machine: facts (name → value; null if unset, missing if the format cannot express it), names and unknown.
package headroom.settings.headroom_roles

import data.headroom.model
import data.headroom.releases
import data.headroom.releases.feature_gates
import data.headroom.settings
import data.headroom.units

_not_etcd_settings := {"gogc", "gomemlimit", "memory_high", "memory_max"}

# These differ between the members of a profile.
_identity := {"etcd_name"}

# Variable → canonical name.
_variables := object.remove(object.union(model.variables, {sprintf("etcd_%s", [name]): name | some name in _not_etcd_settings}), _identity)

# The variables that rules about members read. Members with equal values form one profile.
member_variables := object.keys(_variables) | {
	"etcd_version",
	"etcd_workload",
	"etcd_memory_budget",
	"etcd_extra_config",
	"etcd_storage_data_min_size",
}

# Variable → fact.
_facts := {
	"etcd_maintenance_defrag_enabled": "defragmentation",
	"etcd_maintenance_backup_enabled": "backup",
	"etcd_maintenance_backup_dir": "backup_dir",
	"etcd_maintenance_drill_enabled": "drill",
	"etcd_storage_data_device": "data_device",
	"etcd_storage_wal_device": "wal_device",
	"etcd_storage_fstype": "data_fstype",
	"etcd_storage_check_enabled": "disk_check",
	"etcd_storage_fsync_p99_max_ms": "fsync_p99_max_ms",
	"etcd_storage_accept_slow_disk": "slow_disk_accepted",
	"etcd_data_dir": "data_dir",
	"etcd_wal_dir": "wal_dir",
	"etcd_io_scheduling_class": "io_class",
	"etcd_nice": "nice",
	"etcd_tls_enabled": "tls",
	"etcd_auth_enabled": "auth",
	"etcd_auth_users": "users",
	"etcd_extra_config": "extra_config",
}

# The variables that rules about hosts read.
host_variables := object.keys(_facts)

# The role's default.
_default_version := max_version([release.newest | some release in model.series])

max_version(versions) := [version |
	some version in versions
	every other in versions { semver.compare(version, other) >= 0 }
][0]

_version(variables) := sprintf("%v", [object.get(variables, "etcd_version", _default_version)])

# unknown: variable → reason.
member(variables, unknown) := {
	"version": version,
	"planned": is_object(object.get(variables, "etcd_workload", null)),
	"workload": _object(variables, "etcd_workload"),
	"settings": object.union(pinned, {name: entry.value | some name, entry in extra}),
	"names": object.union(
		{name: sprintf("etcd_%s", [name]) | some name, _ in pinned},
		{name: entry.name | some name, entry in extra},
	),
	"given": given,
	"owned": {name: owned |
		some name, found in entries
		not pinned[name]
		owned := object.union(found[0], {"instead": _instead[name]})
	},
	"twice": object.union(feature_gates.set_twice(release, given), _twice(pinned, entries)),
	"limit": _limit(variables),
	"data_size": _data_size(variables),
	"unknown": {object.get(_variables, variable, trim_prefix(variable, "etcd_")) | some variable, _ in _without_value(variables, unknown)},
} if {
	version := _version(variables)
	release := releases.nearest(version)
	given := _given(release, _object(variables, "etcd_extra_config"))
	pinned := {_variables[variable]: value | some variable, value in variables; _variables[variable]; value != null}
	entries := _entries_given(release, given)
	extra := {name: found[0] | some name, found in entries}
}

# Canonical name → what to do instead of etcd_extra_config, in which the role refuses it.
_instead := object.union(model.role_settings.other, {name: sprintf("set etcd_%s", [name]) | some name in model.role_settings.same})

_twice(pinned, entries) := {name: places |
	some name, found in entries
	variable := [sprintf("etcd_%s", [name]) | pinned[name]]
	places := array.concat(variable, [entry.name | some entry in found])
	count(places) > 1
}

# The roles stop at a malformed variable, so nobody knows what its author will set instead.
_without_value(variables, unknown) := object.union(unknown, settings.malformed(variables))

_object(variables, name) := variables[name] if {
	is_object(variables[name])
} else := {}

# etcd_extra_config has the keys of etcd's config file; the keys of a section are called "section.key" here.
_given(version, config) := array.concat(
	[entry |
		some key, value in config
		not _is_section(version, key, value)
		entry := {"name": sprintf("etcd_extra_config[%q]", [key]), "form": "key", "spelling": key, "value": value}
	],
	[entry |
		some section, keys in config
		_is_section(version, section, keys)
		some key, value in keys
		entry := {
			"name": sprintf("etcd_extra_config[%q][%q]", [section, key]),
			"form": "key",
			"spelling": sprintf("%s.%s", [section, key]),
			"value": value,
		}
	],
) if {
	count(config) > 0
} else := []

_is_section(version, section, keys) if {
	is_object(keys)
	some other, _ in model.series[releases.series(version)].config_keys
	startswith(other, sprintf("%s.", [section]))
}

# Canonical name → its entries. A key may be given twice: within its section and as "section.key", or under its deprecated name.
_entries_given(version, given) := {name: entries |
	count(given) > 0
	canonical := model.spellings[releases.series(version)].key
	some name in {canonical[entry.spelling] | some entry in given; entry.value != null}
	name != null
	entries := [entry | some entry in given; entry.value != null; canonical[entry.spelling] == name]
}

# Without `bytes` if the inventory does not limit memory.
_limit(variables) := {"name": name, "bytes": bytes} if {
	name := [candidate | some candidate in ["etcd_memory_max", "etcd_memory_budget"]; object.get(variables, candidate, null) != null][0]
	bytes := units.parse_size(variables[name])
} else := {"name": "etcd_memory_budget"}

# The minimum size that the user requires; the role's default says nothing about the volume.
_data_size(variables) := units.parse_size(variables.etcd_storage_data_min_size) if {
	variables.etcd_storage_data_min_size != null
} else := null

# unknown: variable → reason.
host(variables, unknown) := {
	"facts": facts,
	"names": {fact: variable | some variable, fact in _facts; facts[fact] != null},
	"unknown": {_facts[variable] | some variable, _ in _without_value(variables, unknown)},
} if {
	facts := {fact: object.get(variables, variable, null) | some variable, fact in _facts}
}
