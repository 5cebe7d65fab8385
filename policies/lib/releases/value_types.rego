# METADATA
# title: Types of etcd's settings
# description: Whether a value has the type that etcd expects, and how a message names that type.
package headroom.releases.value_types

import data.headroom.units

has_type(value, "string") if is_string(value)

has_type(value, "strings") if {
	is_array(value)
	every item in value { is_string(item) }
}

has_type(value, "bool") if is_boolean(value)

has_type(value, type) if {
	type in {"int", "uint", "duration"}
	is_number(value)
	value == floor(value)
	not _is_negative(value, type)
}

_is_negative(value, "uint") if value < 0

# form: "key", "flag" or "env". A config file takes durations in nanoseconds, a command line takes them with a unit.
describe(form, type) := "a duration with its unit, such as 10s" if {
	form != "key"
	type == "duration"
} else := {
	"string": "a text",
	"strings": "a list of texts",
	"bool": "true or false",
	"uint": "a whole number, not negative",
	"int": "a whole number",
	"duration": "a whole number of nanoseconds",
}[type]

# The number that the author probably meant by a text such as "8GB".
meant(value, type) := units.parse_size(regex.replace(value, `^([0-9.]+[KMGT]i)$`, "${1}B")) if {
	type in {"int", "uint"}
	is_string(value)
} else := units.parse_duration(value) if {
	type == "duration"
	is_string(value)
}

# The value of a literal of Go with a prefix, such as 0x400 or 0b11; a zero alone is octal.
literal(text) := _sign(sign) * sum(parts) if {
	[_, sign, prefix, written] := regex.find_all_string_submatch_n(`^([-+]?)0([xbo]?)([0-9a-f_]{1,80})$`, lower(text), 1)[0]
	factors := [{"x": 16, "b": 2, "o": 8, "": 8}[prefix] | some _ in numbers.range(1, 80)]
	digits := split(replace(written, "_", ""), "")
	parts := [part |
		some place, character in digits
		part := indexof("0123456789abcdef", character) * product(array.slice(factors, 0, (count(digits) - 1) - place))
	]
}

_sign("-") := -1

_sign(sign) := 1 if sign != "-"
