# METADATA
# title: Values and what is not known about them
# description: |
#   A variable travels as [value, origin], or as [null, origin, reason] where it cannot be known. Arrays, because object.union and
#   object.union_n replace those, as Ansible replaces values, while they would merge objects.
package headroom.inventory.values

# The variables of one file, as conftest conveys them.
wrap(variables, origin) := {name: _wrapped(value, origin) | some name, value in variables}

_wrapped(value, origin) := [null, origin, reason] if {
	reason := doubt(value)
} else := [value, origin]

# Why a value from a file may differ from the one that Ansible sees; undefined where it cannot.
doubt(value) := reason if {
	is_string(value)
	reason := _doubt_text(value)
} else := "a number of 2^53 or more, which loses its last digits here" if {
	is_number(value)
	abs(value) >= 9007199254740992
} else := reason if {
	_composite(value)
	reason := _doubt_json(json.marshal(value))
}

_composite(value) if is_object(value)

_composite(value) if is_array(value)

_doubt_text(text) := "encrypted" if {
	startswith(text, "$ANSIBLE_VAULT")
} else := "a template" if {
	_template(text)
} else := "a time, which YAML turns into a number unless it is quoted" if {
	regex.match(`^([-+]?[1-9][0-9_]*(:[0-5]?[0-9])+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*)$`, text)
} else := "a time, which YAML rewrites unless it is quoted" if {
	regex.match(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]`, text)
}

# The same for what is inside a list or a map, looked for in its JSON text: one native pass instead of a walk. It may doubt too much, never too little.
_doubt_json(text) := "an encrypted value inside" if {
	contains(text, `"$ANSIBLE_VAULT`)
} else := "a template inside" if {
	_template(text)
} else := "a large number inside, which may lose its last digits here" if {
	regex.match(`[0-9]{16}|[0-9]e\+`, text)
} else := "a time inside, which YAML rewrites unless it is quoted" if {
	regex.match(`"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"|"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]`, text)
}

_template(text) if {
	some mark in ["{{", "{%", "{#"]
	contains(text, mark)
}

# The variables of one host in the output of `ansible-inventory --list`, which has the values as Ansible holds them.
wrap_listed(variables, origin) := {name: _wrapped_listed(value, origin) | some name, value in variables}

_wrapped_listed(value, origin) := [value.__ansible_unsafe, origin] if {
	is_string(value.__ansible_unsafe)
} else := [null, origin, "encrypted"] if {
	value.__ansible_vault
} else := [null, origin, "a template"] if {
	is_string(value)
	_template(value)
} else := [null, origin, reason] if {
	_composite(value)
	reason := _doubt_listed(json.marshal(value))
} else := [value, origin]

_doubt_listed(text) := "an encrypted value inside" if {
	contains(text, `"__ansible_vault"`)
} else := "a template inside" if {
	_template(text)
}

# Several definitions of one host or group, each {rank, path, variables}: the file that Ansible reads last wins.
# Within one file the order of the document counts for Ansible and is lost here: two different values there are not known.
merge(definitions) := wrap(definition.variables, definition.path) if {
	count(definitions) == 1
	some definition in definitions
} else := object.union_n([merged |
	some rank in sort({definition.rank | some definition in definitions})
	merged := _merge_file([definition | some definition in definitions; definition.rank == rank])
])

_merge_file(definitions) := {name: wrapped |
	some definition in definitions
	some name, _ in definition.variables
	values := {other.variables[name] | some other in definitions}
	wrapped := _agreed(values, definition.path)
}

_agreed(values, path) := _wrapped(value, path) if {
	count(values) == 1
	some value in values
} else := [null, path, "two values in one file, of which the later one counts"]

known(wrapped) := {name: item[0] | some name, item in wrapped; count(item) == 2}

unknown(wrapped) := {name: item[2] | some name, item in wrapped; count(item) == 3}
