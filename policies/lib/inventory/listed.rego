# METADATA
# title: Inventories that Ansible has resolved
# description: The output of `ansible-inventory --list`. Only templates and vaulted values are unknown in it.
package headroom.inventory.listed

import data.headroom.files
import data.headroom.inventory.closure
import data.headroom.inventory.values

_bodies := {[path, group]: body |
	some path, document in files.listed
	some group, body in document
	group != "_meta"
}

# [path, group]. A group that is named only as a child has no entry of its own.
_keys := ({key | some key, _ in _bodies} | {[path, child] | some [path, _], body in _bodies; some child in _list(body, "children")}) | {[path, group] |
	some path, _ in files.listed
	some group in ["all", "ungrouped"]
}

_list(body, name) := body[name] if {
	is_array(body[name])
} else := []

_parent_entries := [{"key": [path, child], "parent": [path, group]} | some [path, group], body in _bodies; some child in _list(body, "children")]

_parents := object.union({key: set() | some key in _keys}, _named_parents)

_named_parents := {key: found |
	some key in {entry.key | some entry in _parent_entries}
	found := {entry.parent | some entry in _parent_entries; entry.key == key}
}

_ancestors := closure.ancestors(_parents)

_member_entries := [{"key": ancestor, "hosts": found} |
	some key, body in _bodies
	found := {host | some host in _list(body, "hosts")}
	count(found) > 0
	some ancestor in _ancestors[key]
]

_named_members := {key: union(found) |
	some key in {entry.key | some entry in _member_entries}
	found := {entry.hosts | some entry in _member_entries; entry.key == key}
}

# Path → group → hosts. `all` also gets the hosts of _meta, which no group may name.
groups := object.union_n([{path: {group: found}} |
	some key in _keys
	[path, group] := key
	with_variables := union({object.keys(files.listed[path]._meta.hostvars) | group == "all"})
	found := object.get(_named_members, [key], set()) | with_variables
])

# Path → every variable with one of its values.
_examples := {path: object.union_n([variables | some variables in document._meta.hostvars; is_object(variables)]) | some path, document in files.listed}

examples(path) := values.listed(_examples[path])

# See inventory.bundles. OPA memoizes values.listed(), so hosts with equal variables cost one call.
bundles(path, names) := array.concat(
	[{"hosts": {host}, "known": found.known, "unknown": found.unknown} |
		some host, variables in with_variables
		found := values.listed(object.filter(variables, wanted))
	],
	[{"hosts": others, "known": {}, "unknown": {}} | count(others) > 0],
) if {
	wanted := object.keys(_examples[path]) & names
	with_variables := {host: variables | some host, variables in files.listed[path]._meta.hostvars; is_object(variables)}
	others := groups[path].all - object.keys(with_variables)
}
