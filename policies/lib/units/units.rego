# METADATA
# title: Sizes, durations and counts
# description: |
#   Parses and formats exactly as plugins/module_utils/_base/units.py does. A parser is undefined for invalid input.
package headroom.units

import data.headroom.arithmetic

_units := ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]

_scales := [1, 1024, 1048576, 1073741824, 1099511627776, 1125899906842624]

_powers := {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}

_tens := [1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000]

_nanoseconds := {
	"ns": 1,
	"us": 1000,
	"µs": 1000,
	"ms": 1000000,
	"s": 1000000000,
	"m": 60000000000,
	"h": 3600000000000,
}

# Bytes of a number or of text such as "100KB" (1 KB = 1024 bytes).
parse_size(value) := floor(value) if {
	_is_integer(value)
	value >= 0
}

parse_size(value) := bytes if {
	is_string(value)
	pattern := `^(0|[1-9][0-9]{0,17})(?:\.([0-9]{1,9}))?\s*([KMGTPkmgtp]?)(?:[Ii]?[Bb])?$`
	[_, whole, fraction, unit] := regex.find_all_string_submatch_n(pattern, trim_space(value), 1)[0]
	scale := _scales[_powers[upper(unit)]]
	bytes := (to_number(whole) * scale) + _fraction_of(fraction, scale)
}

# A whole number or its text. floor() makes an integer of 50.0, which sprintf() needs.
parse_count(value) := floor(value) if _is_integer(value)

parse_count(value) := number if {
	is_string(value)
	text := trim_space(value)
	regex.match(`^-?(0|[1-9][0-9]{0,17})$`, text)
	number := to_number(text)
}

# Nanoseconds of a Go duration such as "1h30m".
parse_duration(value) := sum(parts) if {
	is_string(value)
	regex.match(`^(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ns|us|µs|ms|s|m|h))+$`, value)
	parts := [part |
		some [_, whole, fraction, unit] in regex.find_all_string_submatch_n(
			`([0-9]+)(?:\.([0-9]+))?(ns|us|µs|ms|s|m|h)`,
			value,
			-1,
		)
		part := (_digits(whole) * _nanoseconds[unit]) + _fraction_of(fraction, _nanoseconds[unit])
	]
}

# With one decimal, rounded half up.
format_size(bytes) := sprintf("%d B", [bytes]) if bytes < 1024

format_size(bytes) := text if {
	bytes >= 1024
	unit := count([scale | some scale in _scales; bytes >= scale]) - 1
	scale := _scales[unit]
	rest := ((bytes % scale) * 10) + (scale / 2)
	tenths := (arithmetic.divide_down(bytes, scale) * 10) + arithmetic.divide_down(rest, scale)
	text := sprintf("%d.%d %s", [arithmetic.divide_down(tenths, 10), tenths % 10, _units[unit]])
}

# [text, text] of two sizes in one message, in bytes if format_size() would show different sizes alike.
format_sizes_distinctly(first, second) := [sprintf("%s bytes", [format_count(first)]), sprintf("%s bytes", [format_count(second)])] if {
	first != second
	format_size(first) == format_size(second)
} else := [format_size(first), format_size(second)]

# With thousands separators, as in 12,600.
format_count(number) := digits if {
	digits := sprintf("%d", [number])
	count(digits) <= 3
}

format_count(number) := concat(",", array.concat([substring(digits, 0, first)], rest)) if {
	digits := sprintf("%d", [number])
	length := count(digits)
	length > 3
	first := ((length - 1) % 3) + 1
	rest := [substring(digits, start, 3) | some start in numbers.range_step(first, length - 1, 3)]
}

_is_integer(value) if {
	is_number(value)
	value == floor(value)
}

_fraction_of("", _) := 0

_fraction_of(fraction, scale) := arithmetic.divide_down(_digits(fraction) * scale, _tens[count(fraction)]) if fraction != ""

# to_number() refuses leading zeros.
_digits(text) := to_number(trim_left(text, "0")) if trim_left(text, "0") != ""

_digits(text) := 0 if trim_left(text, "0") == ""
