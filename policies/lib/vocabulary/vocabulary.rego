# METADATA
# title: Headroom's variables as the model's settings
# description: |
#   Turns the variables of a host into what rules read, whatever vocabulary they come from. Another role's vocabulary is one more file
#   beside this one. Canonical names are those of etcd's flags in 3.7 with underscores, as everywhere in Headroom.
#
#   `member` is about etcd itself: version; planned (whether Headroom's plan computes what is not pinned); workload; settings
#   (canonical name → value; gogc, gomemlimit, memory_high, memory_max too); names (canonical name → how the user says it, for each one
#   that is set); given (what reaches etcd as it is spelt, see spelling.rego); twice (canonical
#   name → the places that set it, if several do); config_file (who hands etcd a config file, if somebody does); limit ({name, bytes});
#   data_size (bytes of the data volume, null where nothing is said); unknown (canonical names whose value cannot be known; extra_config
#   means any setting: what holds it is not known as a whole). Members of other vocabularies (stated.rego) also have vocabulary,
#   kubernetes (an API server uses this etcd, and compacts it), default_limit (a limit of the role's that may hold) and memlock (bytes that
#   etcd may lock in memory, null where nothing bounds it or nothing is said; Headroom's unit raises the bound where it is needed).
#
#   `place` is about the host it runs on: facts (name → value, null where nothing was said; missing where this vocabulary cannot say it),
#   names and unknown as above. `name` is the member's own name, undefined where it is the host's.
package headroom.vocabulary

import data.headroom.model
import data.headroom.releases
import data.headroom.units

_beside_etcd := {"gogc", "gomemlimit", "memory_high", "memory_max"}

# What tells the members of one cluster apart is no setting of the profile that they share.
_identifying := {"name"}

# Variable → setting.
_variables := {sprintf("etcd_%s", [name]): name | some name in ((object.keys(model.settings) | _beside_etcd) - _identifying)}

# Everything that a rule about etcd itself may look at. Hosts that agree in these are judged together.
relevant := object.keys(_variables) | {
	"etcd_version",
	"etcd_workload",
	"etcd_memory_budget",
	"etcd_extra_config",
	"etcd_storage_data_min_size",
}

# Variable → fact about the host.
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
}

# The same for rules about the host.
relevant_place := object.keys(_facts)

# The role's own default.
_default_version := max_version([release.newest | some release in model.series])

max_version(versions) := [version |
	some version in versions
	every other in versions { semver.compare(version, other) >= 0 }
][0]

_version(variables) := sprintf("%v", [object.get(variables, "etcd_version", _default_version)])

# What an inventory says of a member. With a workload in it the role computes every setting that is not pinned, at the latest when it
# runs; without one, etcd's own defaults are what is asked for. unknown: variable → why it is not known.
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
	"twice": {name: [sprintf("etcd_%s", [name]), extra[name].name] | some name, _ in pinned; extra[name]},
	"limit": _limit(variables),
	"data_size": _data_size(variables),
	"unknown": {object.get(_variables, variable, trim_prefix(variable, "etcd_")) | some variable, _ in unknown},
} if {
	version := _version(variables)
	given := _given(version, _object(variables, "etcd_extra_config"))
	pinned := {_variables[variable]: value | some variable, value in variables; _variables[variable]; value != null}
	extra := _settings_given(version, given)
}

_object(variables, name) := variables[name] if {
	is_object(variables[name])
} else := {}

# etcd_extra_config holds the keys of etcd's config file; those of a section are called "section.key" here.
_given(version, config) := array.concat(
	[entry |
		some key, value in config
		not _is_filled_section(version, key, value)
		entry := {"name": sprintf("etcd_extra_config[%q]", [key]), "form": "key", "spelling": key, "value": value}
	],
	[entry |
		some section, keys in config
		_is_filled_section(version, section, keys)
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

_is_filled_section(version, section, keys) if {
	is_object(keys)
	some other, _ in model.series[releases.series(version)].config_keys
	startswith(other, sprintf("%s.", [section]))
}

# Series → key of the config file → canonical name.
_by_key := {series: {entries[series].key: name | some name, entries in model.settings; entries[series].key != null} |
	some series, _ in model.series
}

# What is given and a setting of the model counts as that setting; one key can be spelt in two ways, with its section and below it.
_settings_given(version, given) := {name: entries[0] |
	count(given) > 0
	canonical := _by_key[releases.series(version)]
	some name in {canonical[entry.spelling] | some entry in given; entry.value != null}
	entries := [entry | some entry in given; entry.value != null; canonical[entry.spelling] == name]
}

# The memory that a member may have, and who says so. Undefined in bytes where the inventory does not tell.
_limit(variables) := {"name": name, "bytes": bytes} if {
	name := [candidate | some candidate in ["etcd_memory_max", "etcd_memory_budget"]; object.get(variables, candidate, null) != null][0]
	bytes := units.parse_size(variables[name])
} else := {"name": "etcd_memory_budget"}

# The least that the role accepts; its own default says nothing of the volume.
_data_size(variables) := units.parse_size(variables.etcd_storage_data_min_size) if {
	variables.etcd_storage_data_min_size != null
} else := null

# What an inventory says of the host. Facts that nobody states are null.
place(variables, unknown) := {
	"facts": facts,
	"names": {fact: variable | some variable, fact in _facts; facts[fact] != null},
	"unknown": {_facts[variable] | some variable, _ in unknown},
} if {
	facts := {fact: object.get(variables, variable, null) | some variable, fact in _facts}
}

name(variables) := sprintf("%v", [variables.etcd_name]) if variables.etcd_name != null
