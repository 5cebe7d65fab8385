# METADATA
# title: Headroom's variables as the model's settings
# description: |
#   Turns the variables of a host into {version, workload, settings, limit, …} for the model. Settings carry the names of etcd's flags
#   in 3.7 with underscores, as everywhere in Headroom. Another role's vocabulary is one more file beside this one.
package headroom.vocabulary

import data.headroom.memory
import data.headroom.model

_beside_etcd := {"gogc", "gomemlimit", "memory_high", "memory_max"}

# Variable → setting.
_variables := {sprintf("etcd_%s", [name]): name | some name in (object.keys(model.settings) | _beside_etcd)}

# Everything that a rule may look at. Hosts that agree in these are judged together.
relevant := object.keys(_variables) | {
	"etcd_version",
	"etcd_workload",
	"etcd_memory_budget",
	"etcd_extra_config",
	"etcd_maintenance_defrag_enabled",
}

# The role's own default.
_default_version := max_version([release.newest | some release in model.series])

max_version(versions) := [version |
	some version in versions
	every other in versions { semver.compare(version, other) >= 0 }
][0]

_version(variables) := sprintf("%v", [object.get(variables, "etcd_version", _default_version)])

# What an inventory says of a member. With a workload in it the role computes every setting that is not pinned, at the latest when it
# runs; without one, etcd's own defaults are what is asked for.
member(variables) := {
	"version": version,
	"planned": is_object(object.get(variables, "etcd_workload", null)),
	"workload": workload,
	"settings": object.union(pinned, extra),
	"names": object.union(
		{_variables[variable]: variable | some variable, _ in variables; _variables[variable]},
		{name: sprintf("etcd_extra_config[%q]", [_key(version, name)]) | some name, _ in extra},
	),
	"extra_config": _object(variables, "etcd_extra_config"),
	"limit": _limit(variables),
	"defragmentation": object.get(variables, "etcd_maintenance_defrag_enabled", null),
} if {
	version := _version(variables)
	workload := _object(variables, "etcd_workload")
	pinned := {_variables[variable]: value | some variable, value in variables; _variables[variable]; value != null}
	extra := {name: value |
		some name, value in _known_extra(version, _object(variables, "etcd_extra_config"))
	}
}

_object(variables, name) := variables[name] if {
	is_object(variables[name])
} else := {}

_key(version, name) := model.settings[name][memory.series(version)].key

# etcd_extra_config holds etcd's own keys: those that are a setting of the model count as that setting.
_known_extra(version, config) := {name: config[entry.key] |
	series := memory.series(version)
	some name, entries in model.settings
	entry := entries[series]
	config[entry.key] != null
} if {
	count(config) > 0
} else := {}

# The memory that a member may have, and who says so. Undefined in bytes where the inventory does not tell.
_limit(variables) := {"name": name, "bytes": bytes} if {
	name := [candidate | some candidate in ["etcd_memory_max", "etcd_memory_budget"]; object.get(variables, candidate, null) != null][0]
	bytes := memory.parse_size(variables[name])
} else := {"name": "etcd_memory_budget"}
