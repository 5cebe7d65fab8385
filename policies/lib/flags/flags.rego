# METADATA
# title: Settings that a version of etcd knows
# description: The config-file keys of each release, their types, and what somebody probably meant. As plugins/module_utils/_releases.py has it.
package headroom.flags

import data.headroom.memory
import data.headroom.model

# Key → type; keys of a section are "section.key". Undefined for an unknown version.
known(version) := model.series[memory.series(version)].config_keys

# What etcd_extra_config sets, with the keys of a section spelt as above.
settings(etcd) := object.union(
	{key: value |
		some key, value in etcd.extra_config
		not _is_filled_section(etcd.version, key, value)
	},
	{sprintf("%s.%s", [section, key]): value |
		some section, keys in etcd.extra_config
		_is_filled_section(etcd.version, section, keys)
		some key, value in keys
	},
)

_is_filled_section(version, key, value) if {
	is_object(value)
	some other, _ in known(version)
	startswith(other, sprintf("%s.", [key]))
}

has_type(value, "string") if is_string(value)

has_type(value, "strings") if {
	is_array(value)
	every item in value { is_string(item) }
}

has_type(value, "bool") if is_boolean(value)

has_type(value, kind) if {
	kind in {"int", "uint", "duration"}
	is_number(value)
	value == floor(value)
	not _negative(value, kind)
}

_negative(value, "uint") if value < 0

type_name(kind) := {
	"string": "a text",
	"strings": "a list of texts",
	"bool": "true or false",
	"uint": "a whole number, not negative",
	"int": "a whole number",
	"duration": "a whole number of nanoseconds",
}[kind]

# What the author probably meant.
type_hint(value, kind) := sprintf(": that is %d", [memory.parse_size(value)]) if {
	kind in {"int", "uint"}
	is_string(value)
} else := sprintf(": that is %d", [memory.parse_duration(value)]) if {
	kind == "duration"
	is_string(value)
} else := ""

# What to write instead, as far as that can be said.
remedy(version, key) := sprintf(": %s", [text]) if {
	text := model.series[memory.series(version)].removed[key]
} else := sprintf(": %s", [text]) if {
	text := model.series[memory.series(version)].misread[key]
} else := sprintf(": here it is called %s", [spelt]) if {
	spelt := model.settings[_underscored(key)][memory.series(version)].key
	spelt != null
} else := ": it is a flag only, and the config file has no key for it" if {
	key in model.series[memory.series(version)].flags_only
} else := _elsewhere(version, other) if {
	some other, entries in model.settings
	some entry in entries
	_underscored(key) in {_underscored(entry.flag), _underscored(_text(entry.key))}
} else := sprintf("; the nearest that it knows is %s", [nearest(key, object.keys(known(version)))]) if {
	nearest(key, object.keys(known(version)))
} else := ""

_elsewhere(version, name) := sprintf(": here it is called %s", [key]) if {
	key := model.settings[name][memory.series(version)].key
	key != null
} else := sprintf(": %s has none", [memory.series(version)])

_underscored(name) := replace(name, "-", "_")

_text(value) := value if {
	is_string(value)
} else := ""

# The candidate that shares most pairs of letters with the word, if it is more than half of them (Sørensen and Dice).
nearest(word, candidates) := best[1] if {
	pairs := _pairs(word)
	best := max({[score, candidate] |
		some candidate in candidates
		others := _pairs(candidate)
		score := (2000 * count(pairs & others)) / (count(pairs) + count(others))
	})
	best[0] > 500
}

_pairs(word) := {substring(word, position, 2) | some position in numbers.range(0, count(word) - 2)} if {
	count(word) > 1
} else := {word}
