# METADATA
# title: Spellings of etcd's settings
# description: |
#   A setting has up to three forms, "flag", "env" and "key" (of the config file), and each release spells them its own way. A canonical
#   name is the flag of the newest release with underscores.
package headroom.releases.spelling

import data.headroom.model
import data.headroom.releases
import data.headroom.releases.value_types
import data.headroom.units

# The flag behind a spelling: snapshot-count for ETCD_SNAPSHOT_COUNT.
as_flag(form, spelling) := lower(replace(trim_prefix(spelling, "ETCD_"), "_", "-")) if {
	form == "env"
} else := spelling

# Whether etcd, or the Go runtime inside it, reads a variable of the environment.
is_etcd_variable(name) if regex.match(`^(ETCD_|GOGC$|GOMEMLIMIT$)`, name)

# Whether only a server uses it: clients set ETCD_ENDPOINTS or ETCD_CERT_FILE too.
is_server_variable(name) if regex.match(`^ETCD_((FORCE_NEW_CLUSTER|UNSAFE_NO_FSYNC)$|(LISTEN|ADVERTISE|INITIAL|SNAPSHOT|AUTO_COMPACTION|QUOTA|HEARTBEAT|ELECTION|MAX_REQUEST)_)`, name)

# The series whose spellings apply to a release; undefined if the model lacks them.
table(version) := series if {
	series := concat(".", array.slice(split(version, "."), 0, 2))
	model.spellings[series]
}

# Whether a release accepts a spelling; for an unknown release, whether any does.
is_known(version, form, spelling) if _is_in(table(version), form, spelling)

is_known(_, "env", spelling) if _go_runtime[spelling]

is_known(version, form, spelling) if {
	not table(version)
	is_of_any_series(form, spelling)
}

# Whether any release accepts a spelling.
is_of_any_series(form, spelling) if {
	some series, _ in model.spellings
	_is_in(series, form, spelling)
}

# Also where the setting is null.
_is_in(series, form, spelling) if model.spellings[series][form][spelling]

# Undefined where the series lacks the spelling or the model has no setting for it.
_setting_in(series, form, spelling) := name if {
	name := model.spellings[series][form][spelling]
	name != null
}

_newest_first := array.reverse(sort(object.keys(model.series)))

# The Go runtime reads these itself; they are not settings of etcd.
_go_runtime := {"GOGC": "gogc", "GOMEMLIMIT": "gomemlimit"}

# Canonical name of a spelling, deprecated ones included; undefined if the release ignores it or the model lacks it. For an unknown
# release, the newest one with this spelling decides.
setting(_, "env", spelling) := _go_runtime[spelling]

setting(version, form, spelling) := name if {
	name := _setting_in(releases.series(version), form, spelling)
} else := name if {
	is_known(version, form, spelling)
	name := [found | some series in _newest_first; found := _setting_in(series, form, spelling)][0]
}

# The type that a release expects for a spelling; undefined if the model has none. null as in setting().
type_of(null, form, spelling) := [found | some series in _newest_first; found := _type_of(model.series[series].newest, form, spelling)][0]

type_of(version, form, spelling) := _type_of(version, form, spelling) if version != null

_type_of(version, form, spelling) := found if {
	form == "key"
	found := releases.config_keys(version)[spelling]
} else := found if {
	form != "key"
	found := model.settings[setting(version, form, spelling)][releases.series(version)].type
} else := releases.config_keys(version)[as_flag(form, spelling)] if {
	form != "key"
}

# The type of a setting by its canonical name, whatever the release.
type_of_setting(name) := [entry.type | some series in _newest_first; entry := model.settings[name][series]][0]

_truths := {"1", "t", "T", "TRUE", "true", "True"}

# Whether etcd accepts a value of this type. Config files have YAML's types; flags and variables reach etcd as text.
is_readable(form, type, value) if {
	form == "key"
	value_types.has_type(value, type)
}

is_readable(form, type, value) if {
	form != "key"
	_parses(type, as_text(value))
}

_parses(type, text) if regex.match(_patterns[type], text)

_parses("duration", text) if units.parse_duration(trim_left(text, "-+")) >= 0

_parses("duration", "0")

# What Go's strconv accepts: numbers may be literals such as 0x10 and 1_000.
_patterns := {
	"string": ``,
	"strings": ``,
	"bool": `^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$`,
	"int": sprintf(`^[-+]?%s$`, [_number]),
	"uint": sprintf(`^%s$`, [_number]),
}

_number := `(0([xX](_?[0-9a-fA-F])+|[bB](_?[01])+|[oO]?(_?[0-7])+)?|[1-9](_?[0-9])*)`

# The text that reaches etcd for the value of a flag or variable.
as_text(value) := value if {
	is_string(value)
} else := "" if {
	value == null
} else := sprintf("%v", [value])

# A value with its own type: numbers and booleans are parsed out of flags and variables, invalid ones stay text. In lists of arguments and
# in Compose's lists of variables, quotation marks belong to the value: flags/wrong_type reports them, and other rules judge what the author meant.
value_of(form, name, value) := value if {
	form == "key"
} else := number if {
	type_of_setting(name) in {"int", "uint"}
	text := replace(trim_left(_without_quotes(value), "+"), "_", "")
	regex.match(`^-?(0|[1-9][0-9]{0,17})$`, text)
	number := to_number(text)
} else := value_types.literal(_without_quotes(value)) if {
	type_of_setting(name) in {"int", "uint"}
	_parses(type_of_setting(name), _without_quotes(value))
} else := _without_quotes(value) in _truths if {
	type_of_setting(name) == "bool"
	_parses("bool", _without_quotes(value))
} else := _without_quotes(value)

_without_quotes(value) := regex.replace(as_text(value), `^(?:"([^"]*)"|'([^']*)')$`, "$1$2")
