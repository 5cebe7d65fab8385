# METADATA
# title: How settings are spelt
# description: |
#   A setting of etcd can be written as a flag, as an environment variable or as a key of the config file, and each release has its own
#   spellings. What is given is {name, form, spelling, value}: how its author refers to it, "flag", "env" or "key", how etcd reads it, and
#   the value as it is written.
package headroom.vocabulary.spelling

import data.headroom.flags
import data.headroom.model
import data.headroom.releases
import data.headroom.units

# The environment variable that etcd derives from a flag.
env(flag) := sprintf("ETCD_%s", [upper(replace(flag, "-", "_"))])

# A key of the config file that no flag is called.
_no_flag := {"experimental-snapshot-catch-up-entries"}

# Read from the environment, yet no flags.
_beside_flags := {"ETCD_UNSUPPORTED_ARCH", "ETCD_VERIFY"}

# Most keys are flags too; those few that differ have both spellings in the model. What a config file misreads is only deprecated as a flag.
_flags := {series: found |
	some series, release in model.series
	named := {entry.flag | some entries in model.settings; entry := entries[series]; is_string(entry.flag)}
	top := {key | some key, _ in release.config_keys; not contains(key, ".")}
	differing := {entry.key | some entries in model.settings; entry := entries[series]; is_string(entry.key); entry.key != entry.flag}
	old := object.keys(release.deprecated) | object.keys(release.misread)
	other := {"config-file", "version", "help"} | {flag | some flag in release.flags_only}
	found := ((named | (top - differing)) | (old | other)) - _no_flag
}

# Series → form → every spelling that it takes.
spellings := {series: {"flag": flags_of_series, "env": (variables | _beside_flags), "key": keys} |
	some series, flags_of_series in _flags
	variables := {env(flag) | some flag in flags_of_series}
	keys := object.keys(model.series[series].config_keys)
}

# Whether a release takes a spelling. Without a release (null), whether any does.
known(version, form, spelling) if spelling in spellings[releases.series(version)][form]

known(_, "env", spelling) if _runtime[spelling]

known(null, form, spelling) if {
	some forms in spellings
	spelling in forms[form]
}

# Series → form → spelling → canonical name.
_settings := {series: {
	"flag": {entry.flag: name | some name, entry in settings; is_string(entry.flag)},
	"env": {env(entry.flag): name | some name, entry in settings; is_string(entry.flag)},
	"key": {entry.key: name | some name, entry in settings; is_string(entry.key)},
} |
	some series, _ in model.series
	settings := {name: entries[series] | some name, entries in model.settings; entries[series]}
}

_newest_first := array.reverse(sort(object.keys(model.series)))

# Read by Go's runtime, and no settings of etcd.
_runtime := {"GOGC": "gogc", "GOMEMLIMIT": "gomemlimit"}

# The canonical name of the setting that a spelling means; undefined for what has no effect in that release, and for settings that the
# model does not have. Deprecated spellings count. Without a release, the newest that has the spelling is asked.
setting(_, "env", spelling) := _runtime[spelling]

setting(version, form, spelling) := name if {
	name := _settings[releases.series(version)][form][spelling]
} else := name if {
	known(version, form, spelling)
	name := [found | some series in _newest_first; found := _settings[series][form][spelling]][0]
}

# The type that a release reads for a spelling, "int" for example; undefined where the model has none. Without a release, the type that
# the newest has that knows the spelling.
kind(null, form, spelling) := [found | some series in _newest_first; found := _kind(model.series[series].newest, form, spelling)][0]

kind(version, form, spelling) := _kind(version, form, spelling) if version != null

_kind(version, form, spelling) := found if {
	form == "key"
	found := flags.known(version)[spelling]
} else := found if {
	form != "key"
	found := model.settings[setting(version, form, spelling)][releases.series(version)].type
} else := flags.known(version)[flags.as_flag(form, spelling)] if {
	form != "key"
}

_truths := {"1", "t", "T", "TRUE", "true", "True"}

# Whether etcd takes a value of that type. A config file has YAML's types; flags and the environment are text, whatever the type in the
# file that hands them on.
readable(form, type, value) if {
	form == "key"
	flags.has_type(value, type)
}

readable(form, type, value) if {
	form != "key"
	_parses(type, text_of(value))
}

_parses(type, text) if regex.match(_patterns[type], text)

_parses("duration", text) if units.parse_duration(trim_left(text, "-+")) >= 0

_parses("duration", "0")

# As Go's strconv has it.
_patterns := {
	"string": ``,
	"strings": ``,
	"bool": `^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$`,
	"int": `^[-+]?[0-9]+$`,
	"uint": `^[0-9]+$`,
}

# The text that etcd gets for the value of a flag or of a variable of the environment.
text_of(value) := value if {
	is_string(value)
} else := "" if {
	value == null
} else := sprintf("%v", [value])

# A value as rules want it: numbers and booleans out of the text of flags and environment. What is no such number stays a text.
value_of(form, name, value) := value if {
	form == "key"
} else := number if {
	kind_of(name) in {"int", "uint"}
	text := trim_left(text_of(value), "+")
	regex.match(`^-?(0|[1-9][0-9]{0,17})$`, text)
	number := to_number(text)
} else := text_of(value) in _truths if {
	kind_of(name) == "bool"
	_parses("bool", text_of(value))
} else := text_of(value)

# The type of a setting, by its canonical name.
kind_of(name) := [entry.type | some series in _newest_first; entry := model.settings[name][series]][0]
