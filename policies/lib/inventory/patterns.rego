# METADATA
# title: Host patterns of inventory files
# description: Keys below `hosts` (rule 13), with ranges such as n[1:3], [01:10], [1:9:2], [a:c] and [:3], or as NAME:PORT.
package headroom.inventory.patterns

# The most hosts that one pattern, and all patterns of a run together, may name.
most_hosts := 100000

# The hosts of a pattern. Undefined if Ansible refuses it, above four ranges, and above most_hosts.
hosts(pattern) := {pattern} if {
	not contains(pattern, "[")
	not contains(pattern, ":")
} else := {address(pattern).name} if {
	not contains(address(pattern).name, "[")
} else := _expanded(address(pattern).name)

# Follows parse_address() in ansible/parsing/utils/addresses.py. Port 0: no port.
address(pattern) := {"name": name, "port": port} if {
	some expression in [`^\[(.+)\]:([0-9]+)$`, `^((?:[^:\[\]]|\[[^\]]*\])*):([0-9]+)$`]
	[_, name, digits] := regex.find_all_string_submatch_n(expression, pattern, 1)[0]
	_is_host(name)
	port := to_number(_digits(digits))
} else := {"name": pattern, "port": 0}

_is_host(name) if regex.match(_hostname, name)

_is_host(name) if regex.match(`^[0-9A-Fa-f:.]*::?[0-9A-Fa-f:.]*$`, name)

_range := `\[(?:[A-Za-z]:[A-Za-z]|[0-9]+:[0-9]+)(?::[0-9]+)?\]`

# A label starts with a letter, digit, underscore or range, and does not end with an underscore or hyphen.
_label := sprintf(`(?:(?:[\p{L}\p{N}_]|%[1]s)(?:[\p{L}\p{N}_-]|%[1]s)*)?(?:[\p{L}\p{N}]|%[1]s)`, [_range])

_hostname := sprintf(`^%[1]s(?:\.%[1]s)*$`, [_label])

_ranges_expression := `\[([^\[\]]*)\]`

_expanded(name) := {text |
	some first in _sequence(ranges, 0)
	some second in _sequence(ranges, 1)
	some third in _sequence(ranges, 2)
	some fourth in _sequence(ranges, 3)
	text := concat("", [between[0], first, between[1], second, between[2], third, between[3], fourth, between[4]])
} if {
	ranges := _ranges(name)
	between := array.concat(regex.split(_ranges_expression, name), ["", "", ""])
}

# How many hosts a pattern names, computed without naming them. Undefined where hosts() is.
size(pattern) := 1 if {
	not contains(address(pattern).name, "[")
} else := product([_size(range) | some range in ranges]) if {
	ranges := _ranges(address(pattern).name)
}

_ranges(name) := ranges if {
	texts := [found[1] | some found in regex.find_all_string_submatch_n(_ranges_expression, name, -1)]
	count(texts) in {1, 2, 3, 4}
	every part in regex.split(_ranges_expression, name) { not regex.match(`[\[\]]`, part) }
	ranges := [_range_of(text) | some text in texts]
	count(ranges) == count(texts)
	product([_size(range) | some range in ranges]) <= most_hosts
}

_size(range) := floor((range.last - range.first) / range.step) + 1

_sequence(ranges, index) := [""] if {
	index >= count(ranges)
} else := [substring(_letters, position, 1) | some position in _positions(ranges[index])] if {
	ranges[index].letters
} else := [_padded(number, ranges[index].width) | some number in _positions(ranges[index])]

_positions(range) := numbers.range_step(range.first, range.last, range.step)

_letters := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

# Follows expand_hostname_range() in ansible/plugins/inventory/__init__.py.
_range_of(text) := {"letters": true, "first": first, "last": last, "step": step} if {
	[begin, end, step] := _bounds(split(text, ":"))
	count(begin) == 1
	count(end) == 1
	first := indexof(_letters, begin)
	last := indexof(_letters, end)
	first >= 0
	last >= first
} else := {"letters": false, "first": first, "last": last, "step": step, "width": width} if {
	[begin, end, step] := _bounds(split(text, ":"))
	first := to_number(_digits(begin))
	last := to_number(_digits(end))
	last >= first
	width := _width(begin)
	width in {0, count(end)}
}

_bounds([begin, end]) := [_or_zero(begin), end, 1]

_bounds([begin, end, step]) := [_or_zero(begin), end, number] if {
	number := to_number(_digits(step))
	number > 0
}

# to_number() refuses leading zeros.
_digits(text) := trimmed if {
	regex.match(`^[0-9]+$`, text)
	trimmed := _or_zero(trim_left(text, "0"))
}

_or_zero(text) := "0" if {
	text == ""
} else := text

_width(begin) := count(begin) if {
	startswith(begin, "0")
	count(begin) > 1
} else := 0

_padded(number, width) := sprintf("%0*d", [width, number]) if {
	width > 0
} else := sprintf("%d", [number])
