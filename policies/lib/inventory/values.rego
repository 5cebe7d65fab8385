# METADATA
# title: Values of variables
# description: |
#   Overlays layers of variables as Ansible does and keeps track of unknown values. A layer is {values, maps, unknown}. In `values` an
#   unknown value is boxed as [mark, reason] and a map as [mark, map]: object.union() replaces arrays but would merge maps. `maps` and
#   `unknown` list the boxed names, so that only these are visited one by one.
package headroom.inventory.values

# No list from a file starts with these, because a text that contains NUL is unknown.
_map := "\u0000map"

_unknown := "\u0000unknown"

empty := {"values": {}, "maps": set(), "unknown": set()}

# Whether Ansible certainly sees the same values in a file: one match over its JSON text replaces a check of each value. False alarms cost
# time, misses would be wrong.
is_plain(content) if not regex.match(_suspicious, json.marshal(content))

_suspicious := concat("|", [
	`\$ANSIBLE_VAULT`,
	`\{[{%#]`,
	`[0-9]{16}|[0-9]e\+`,
	`\\u0000`,
	_times_inside,
])

_times_inside := `"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"|"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|( |\\t)+)[0-9]`

# The variables of one file as conftest parses them. The second argument is is_plain() of the file.
layer(variables, true) := {"values": object.union(variables, maps), "maps": object.keys(maps), "unknown": set()} if {
	maps := {name: [_map, value] | some name, value in variables; is_object(value)}
}

layer(variables, false) := {
	"values": object.union(object.union(variables, maps), reasons),
	"maps": object.keys(maps),
	"unknown": object.keys(reasons),
} if {
	reasons := {name: [_unknown, reason] | some name, value in variables; reason := doubt(value)}
	maps := {name: [_map, value] | some name, value in variables; is_object(value)}
}

unknown(names, reason) := {"values": {name: [_unknown, reason] | some name in names}, "maps": set(), "unknown": names}

# Later layers win.
overlay(layers) := layers[0] if {
	count(layers) == 1
} else := {
	"values": object.union_n([found.values | some found in layers]),
	"maps": union({found.maps | some found in layers}),
	"unknown": union({found.unknown | some found in layers}),
}

# A layer unboxed: {known: name → value, unknown: name → reason}.
resolve(found) := {"known": found.values, "unknown": {}} if {
	count(found.maps) + count(found.unknown) == 0
} else := {"known": object.union(found.values, _maps(found)), "unknown": {}} if {
	count(found.unknown) == 0
} else := {"known": object.union(object.remove(found.values, object.keys(reasons)), _maps(found)), "unknown": reasons} if {
	reasons := {name: found.values[name][1] | some name in found.unknown; found.values[name][0] == _unknown}
}

# Each variable of the layers with one of its values; maps with the keys of all layers.
examples(layers) := {
	"known": object.union(settled.known, object.union_n([_maps(found) | some found in layers; count(found.maps) > 0])),
	"unknown": object.union({name: "not known everywhere" | some name in united.unknown}, settled.unknown),
} if {
	united := overlay(layers)
	settled := resolve(united)
}

_maps(found) := {name: found.values[name][1] | some name in found.maps; found.values[name][0] == _map}

# Why Ansible may see another value than conftest; undefined if both see the same.
doubt(value) := reason if {
	is_string(value)
	reason := _doubt_text(value)
} else := "a number of 2^53 or more, which loses its last digits here" if {
	is_number(value)
	abs(value) >= 9007199254740992
} else := reason if {
	type_name(value) in {"array", "object"}
	reason := _doubt_json(json.marshal(value))
}

_doubt_text(text) := "encrypted" if {
	startswith(text, "$ANSIBLE_VAULT")
} else := "a template" if {
	_template(text)
} else := "a time, which YAML turns into a number unless it is quoted" if {
	regex.match(`^([-+]?[1-9][0-9_]*(:[0-5]?[0-9])+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*)$`, text)
} else := "a time, which YAML rewrites unless it is quoted" if {
	regex.match(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]`, text)
}

# For lists and maps: matching the JSON text is faster than a walk.
_doubt_json(text) := "an encrypted value inside" if {
	contains(text, `"$ANSIBLE_VAULT`)
} else := "a template inside" if {
	_template(text)
} else := "a large number inside, which may lose its last digits here" if {
	regex.match(`[0-9]{16}|[0-9]e\+`, text)
} else := "a time inside, which YAML rewrites unless it is quoted" if {
	regex.match(_times_inside, text)
} else := "a NUL character inside" if {
	contains(text, `\u0000`)
}

_template(text) if {
	some mark in ["{{", "{%", "{#"]
	contains(text, mark)
}

# The variables of one host in the output of `ansible-inventory --list`. Only hosts with a template or a vaulted value, found by their JSON
# text, are visited variable by variable.
listed(variables) := {"known": variables, "unknown": {}} if {
	text := json.marshal(variables)
	every mark in ["{{", "{%", "{#", "__ansible_"] { not contains(text, mark) }
} else := {
	"known": object.union(object.remove(variables, object.keys(changed)), {name: change.value | some name, change in changed; not change.reason}),
	"unknown": {name: change.reason | some name, change in changed},
} if {
	changed := {name: change | some name, value in variables; change := _listed(value)}
}

# Undefined for values that Ansible lists as they are.
_listed(value) := {"value": value.__ansible_unsafe} if {
	is_string(value.__ansible_unsafe)
} else := {"reason": "encrypted"} if {
	value.__ansible_vault
} else := {"reason": "a template"} if {
	is_string(value)
	_template(value)
} else := {"reason": reason} if {
	type_name(value) in {"array", "object"}
	reason := _doubt_listed(json.marshal(value))
}

_doubt_listed(text) := "an encrypted value inside" if {
	contains(text, `"__ansible_vault"`)
} else := "a template inside" if {
	_template(text)
}

# Definitions of one host or group, each {rank, plain, variables}; the file that Ansible reads last wins. conftest loses the order within a
# file (rule 11), so two different values there make the variable unknown.
merge(definitions) := layer(definition.variables, definition.plain) if {
	count(definitions) == 1
	some definition in definitions
} else := overlay([merged |
	some rank in sort({definition.rank | some definition in definitions})
	merged := _merge_file([definition | some definition in definitions; definition.rank == rank])
])

_merge_file(definitions) := overlay([
	layer({name: value | some name, found in by_name; count(found) == 1; some value in found}, false),
	unknown({name | some name, found in by_name; count(found) > 1}, "two values in one file; the later one counts"),
]) if {
	by_name := {name: found |
		some definition in definitions
		some name, _ in definition.variables
		found := {other.variables[name] | some other in definitions}
	}
}
