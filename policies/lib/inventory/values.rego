# METADATA
# title: Values and what is not known about them
# description: |
#   Variables travel in layers, {values, maps, unknown}: what is not known is boxed as [mark, reason], and a map as [mark, map], because
#   object.union and object.union_n replace arrays, as Ansible replaces values, while they would merge maps. `maps` and `unknown` have
#   the names of both, so that layers are united natively and only a few names are looked at one by one.
package headroom.inventory.values

# No list that comes from a file begins with these: a text with a NUL in it is not known.
_map := "\u0000map"

_unknown := "\u0000unknown"

nothing := {"values": {}, "maps": set(), "unknown": set()}

# What looks, anywhere in the JSON text of a file, as if it could differ from what Ansible sees. One native pass over a whole file spares
# looking at its values one by one. It may doubt too much, never too little.
plain(content) if not regex.match(_suspicious, json.marshal(content))

_suspicious := concat("|", [
	`\$ANSIBLE_VAULT`,
	`\{[{%#]`,
	`[0-9]{16}|[0-9]e\+`,
	`\\u0000`,
	_times_inside,
])

_times_inside := `"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"|"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|( |\\t)+)[0-9]`

# The variables of one file, as conftest conveys them. plain: nothing in the file is to be doubted.
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

# The same variables, none of them known.
unknown(names, reason) := {"values": {name: [_unknown, reason] | some name in names}, "maps": set(), "unknown": names}

# Each layer over the one before.
unite(layers) := layers[0] if {
	count(layers) == 1
} else := {
	"values": object.union_n([found.values | some found in layers]),
	"maps": union({found.maps | some found in layers}),
	"unknown": union({found.unknown | some found in layers}),
}

# A layer taken apart: what is known, and why the rest is not.
settle(found) := {"known": found.values, "unknown": {}} if {
	count(found.maps) + count(found.unknown) == 0
} else := {"known": object.union(found.values, _maps(found)), "unknown": {}} if {
	count(found.unknown) == 0
} else := {"known": object.union(object.remove(found.values, object.keys(reasons)), _maps(found)), "unknown": reasons} if {
	reasons := {name: found.values[name][1] | some name in found.unknown; found.values[name][0] == _unknown}
}

# Of several layers' variables, each with one of its values, and maps with all that is in them anywhere.
examples(layers) := {
	"known": object.union(settled.known, object.union_n([_maps(found) | some found in layers; count(found.maps) > 0])),
	"unknown": object.union({name: "not known everywhere" | some name in united.unknown}, settled.unknown),
} if {
	united := unite(layers)
	settled := settle(united)
}

_maps(found) := {name: found.values[name][1] | some name in found.maps; found.values[name][0] == _map}

# Why a value from a file may differ from the one that Ansible sees; undefined where it cannot.
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

# The same for what is inside a list or a map, looked for in its JSON text: one native pass instead of a walk.
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

# The variables of one host in the output of `ansible-inventory --list`, which has the values as Ansible holds them: looking for marks in
# the text of all of them is one native pass; only hosts with one of them are taken apart.
listed(variables) := {"known": variables, "unknown": {}} if {
	text := json.marshal(variables)
	every mark in ["{{", "{%", "{#", "__ansible_"] { not contains(text, mark) }
} else := {
	"known": object.union(object.remove(variables, object.keys(changed)), {name: change.value | some name, change in changed; not change.reason}),
	"unknown": {name: change.reason | some name, change in changed},
} if {
	changed := {name: change | some name, value in variables; change := _listed(value)}
}

# A value that is not what it looks like; undefined for all others.
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

# Several definitions of one host or group, each {rank, plain, variables}: the file that Ansible reads last wins.
# Within one file the order of the document counts for Ansible and is lost here: two different values there are not known.
merge(definitions) := layer(definition.variables, definition.plain) if {
	count(definitions) == 1
	some definition in definitions
} else := unite([merged |
	some rank in sort({definition.rank | some definition in definitions})
	merged := _merge_file([definition | some definition in definitions; definition.rank == rank])
])

_merge_file(definitions) := unite([
	layer({name: value | some name, found in stated; count(found) == 1; some value in found}, false),
	unknown({name | some name, found in stated; count(found) > 1}, "two values in one file, of which the later one counts"),
]) if {
	stated := {name: found |
		some definition in definitions
		some name, _ in definition.variables
		found := {other.variables[name] | some other in definitions}
	}
}
