# METADATA
# title: Input of the memory model
# description: |
#   Parses a workload and settings as plugins/module_utils/_model/workload.py does. If `problems` is not empty, everything else here is
#   undefined.
package headroom.memory.parse

import data.headroom.arithmetic
import data.headroom.model
import data.headroom.releases
import data.headroom.units

max_members := 99

# With every default filled in.
workload(given) := object.union(_workload_defaults, _parsed(given, "workload")) if _is_valid(given, "workload")

_workload_defaults := {name: field.default | some name, field in model.workload}

# With the release's defaults, and the retention as a number.
settings(version, given) := object.union(full, {"retention": retention}) if {
	full := _settings(version, given)
	retention := retention_amount(full.auto_compaction_mode, full.auto_compaction_retention)
}

_settings(version, given) := object.union_n([defaults, found, not_zero]) if {
	_is_valid(given, "settings")
	defaults := _settings_defaults(releases.series(version))
	found := _parsed(given, "settings")
	not_zero := {name: defaults[name] | some name in _zero_is_default; found[name] == 0}
}

_zero_is_default := ["snapshot_count", "snapshot_catchup_entries"]

# Setting → default of a series.
_settings_defaults(release) := object.union(
	{name: object.get(model.settings, [name, release, "default"], null) | some name, _ in model.estimate_settings},
	{"gogc": 100},
)

_fields := {"workload": model.workload, "settings": model.estimate_settings}

# Without values that cannot be parsed.
_parsed(given, what) := {name: found |
	some name, value in given
	value != null
	field := _fields[what][name]
	found := _value(value, field.kind, field)
}

_is_valid(given, what) if {
	is_object(given)
	count(_parsed(given, what)) == count([value | some value in given; value != null])
}

_value(value, "flag", _) := value if is_boolean(value)

_value(value, "mode", _) := value if value in {"periodic", "revision"}

_value(value, "retention", _) := value if is_string(value)

_value(value, "retention", _) := sprintf("%d", [units.parse_count(value)]) if is_number(value)

_value(value, "count", field) := number if {
	number := units.parse_count(value)
	number >= field.min
	number <= field.max
}

_value(value, "size", field) := number if {
	number := units.parse_size(value)
	number <= field.max
	number >= field.min
	not is_below_smallest(number, field)
}

# 0 selects etcd's default.
is_below_smallest(number, field) if {
	number > 0
	number < field.smallest
}

# -1 turns a limit off in etcd.
_value(value, "size", field) := -1 if {
	value in {-1, "-1"}
	field.min == -1
}

# Seconds in periodic mode, rounded up, or revisions; 0 means off. In periodic mode etcd takes a bare number as hours. Undefined for a
# duration that Go cannot hold.
retention_amount("revision", retention) := _whole(retention)

retention_amount("periodic", retention) := hours * 3600 if {
	hours := _whole(retention)
	hours <= _max_hours
}

retention_amount("periodic", retention) := seconds if {
	not _whole(retention)
	seconds := arithmetic.divide_up(units.parse_duration(retention), 1000000000)
	seconds <= _max_hours * 3600
}

_max_hours := model.estimate_settings.auto_compaction_retention.max_hours

_too_long := sprintf(": etcd takes at most %s hours", [units.format_count(_max_hours)])

_retention_limit("periodic", retention) := _too_long if {
	_whole(retention) > _max_hours
} else := _too_long if {
	units.parse_duration(retention)
} else := ""

_retention_limit("revision", _) := ""

_whole(text) := to_number(text) if regex.match(`^(0|[1-9][0-9]{0,17})$`, text)

# Messages about invalid input.
problems(version, _, _, _) := {sprintf("%v is not a known etcd version: the known series are %v", [version, _known])} if not releases.series(version)

problems(version, given_workload, given_settings, members) := found if {
	releases.series(version)
	single := (_field_problems(given_workload, "workload") | _field_problems(given_settings, "settings")) | _member_problems(members)
	found := _with_contradictions(single, version, given_workload, given_settings)
}

_known := concat(", ", [name | some name, _ in model.series])

_with_contradictions(single, version, given_workload, given_settings) := _contradictions(
	version,
	workload(given_workload),
	_settings(version, given_settings),
) if {
	count(single) == 0
}

_with_contradictions(single, _, _, _) := single if count(single) > 0

# The first branch is a shortcut for valid input.
_field_problems(values, what) := set() if {
	_is_valid(values, what)
	count(object.keys(values) - object.keys(_fields[what])) == 0
} else := unknown | invalid if {
	is_object(values)
	fields := _fields[what]
	unknown := {text |
		some name, _ in values
		not fields[name]
		text := sprintf("%s has an unknown key '%v'; known: %s", [what, name, concat(", ", object.keys(fields))])
	}
	invalid := {text |
		some name, value in values
		value != null
		field := fields[name]
		not _is_valid_value(value, field)
		text := sprintf("%s.%s is %v, not a valid %s%s", [what, name, value, field.kind, _range(field)])
	}
} else := {sprintf("%s must be a map", [what])}

_is_valid_value(value, field) if _value(value, field.kind, field) != null

_range(field) := sprintf(" between %d and %d", [field.min, field.max]) if field.min != null

else := ""

_member_problems(members) := set() if {
	is_number(members)
	members == floor(members)
	members >= 1
	members <= max_members
} else := {sprintf("members is %v: a cluster has between 1 and %d members", [members, max_members])}

_contradictions(version, work, effective) := (ignored | inverted) | (retention | too_large) if {
	since := model.series[releases.series(version)].gomemlimit_since
	ignored := {sprintf("settings.gomemlimit has no effect on etcd %s: GOMEMLIMIT needs %s or later", [version, since]) |
		effective.gomemlimit != null
		semver.compare(version, since) < 0
	}
	inverted := {sprintf("settings.%s (%s) is above settings.memory_max (%s)", [name, low, high]) |
		some name in ["gomemlimit", "memory_high"]
		effective[name] != null
		effective.memory_max != null
		effective[name] > effective.memory_max
		[low, high] := units.format_sizes_distinctly(effective[name], effective.memory_max)
	}
	retention := {sprintf("settings.auto_compaction_retention is %v, which is not valid in %s mode%s", [value, mode, _retention_limit(mode, value)]) |
		mode := effective.auto_compaction_mode
		value := effective.auto_compaction_retention
		not retention_amount(mode, value)
	}
	too_large := _oversized_put(work, effective.max_request_bytes, largest_value(version, work.key_size, effective.max_request_bytes))
}

# The bytes of the largest value that etcd accepts with a key of this size; negative if the key alone is too large.
largest_value(version, key_size, max_request_bytes) := (max_request_bytes - key_size) - constants.raft_entry_overhead if {
	constants := model.constants[releases.series(version)]
}

_oversized_put(work, max_request_bytes, largest) := set() if {
	work.value_size <= largest
} else := {sprintf("workload.key_size (%s) makes every put larger than max_request_bytes (%s)", [key, limit])} if {
	largest < 0
	[key, limit] := units.format_sizes_distinctly(work.key_size, max_request_bytes)
} else := {sprintf("workload.value_size (%s) makes a put larger than max_request_bytes (%s): with keys of %s a value may have %s bytes", [
	value,
	limit,
	units.format_size(work.key_size),
	units.format_count(largest),
])} if {
	[value, limit] := units.format_sizes_distinctly(work.value_size, max_request_bytes)
}
