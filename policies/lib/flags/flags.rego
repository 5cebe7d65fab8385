# METADATA
# title: Settings that a version of etcd knows
# description: The config-file keys of each release, their types, and what somebody probably meant. As plugins/module_utils/_model/releases.py has it.
package headroom.flags

import data.headroom.model
import data.headroom.releases
import data.headroom.units

# Key → type; keys of a section are "section.key". Undefined for an unknown version.
known(version) := model.series[releases.series(version)].config_keys

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

type_name(form, kind) := "a duration with its unit, such as 10s" if {
	form != "key"
	kind == "duration"
} else := {
	"string": "a text",
	"strings": "a list of texts",
	"bool": "true or false",
	"uint": "a whole number, not negative",
	"int": "a whole number",
	"duration": "a whole number of nanoseconds",
}[kind]

# What happens to a setting that etcd does not know.
fate := {
	"key": "etcd passes over it in silence",
	"env": "etcd starts without it",
	"flag": "etcd exits at the start",
}

# What the author probably meant.
type_hint(value, kind) := sprintf(": that is %d", [units.parse_size(value)]) if {
	kind in {"int", "uint"}
	is_string(value)
} else := sprintf(": that is %d", [units.parse_duration(value)]) if {
	kind == "duration"
	is_string(value)
} else := ""

# What to write instead, as far as that can be said.
remedy(version, entry) := _remedy(version, entry, as_flag(entry.form, entry.spelling))

_remedy(version, entry, flag) := sprintf("; %s", [text]) if {
	text := model.series[releases.series(version)].removed[flag]
} else := sprintf("; %s", [text]) if {
	text := model.series[releases.series(version)].misread[entry.spelling]
} else := sprintf("; here it is called %s", [spelt]) if {
	spelt := _spelt(version, entry.form, flag)
} else := "; it is a flag only, and the config file has no key for it" if {
	entry.form == "key"
	entry.spelling in model.series[releases.series(version)].flags_only
} else := _elsewhere(version, entry.form, others[0]) if {
	others := sort({name |
		some name, spellings in model.settings
		some spelling in spellings
		_underscored(flag) in {_underscored(spelling.flag), _underscored(_text(spelling.key))}
	})
} else := sprintf("; the nearest that it knows is %s", [close]) if {
	close := nearest(entry.spelling, _candidates[releases.series(version)][entry.form])
} else := ""

# The flag's name of what is given: ETCD_SNAPSHOT_COUNT is snapshot-count.
as_flag(form, spelling) := lower(replace(trim_prefix(spelling, "ETCD_"), "_", "-")) if {
	form == "env"
} else := spelling

_spelt(version, form, name) := spelt if {
	spelt := model.settings[_underscored(name)][releases.series(version)][form]
	spelt != null
}

_candidates := {series: {
	"key": object.keys(release.config_keys),
	"flag": {entries[series].flag | some _, entries in model.settings},
	"env": {entries[series].env | some _, entries in model.settings},
} |
	some series, release in model.series
}

_elsewhere(version, form, name) := sprintf("; here it is called %s", [_spelt(version, form, name)]) if {
	_spelt(version, form, name)
} else := sprintf("; %s has none", [releases.series(version)])

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
