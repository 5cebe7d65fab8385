# METADATA
# title: The output of ansible-inventory --list
# description: |
#   One document with the variables of every host already merged by Ansible itself: nothing is lost but what a template or a vault hides.
package headroom.inventory.listed

import data.headroom.inventory.closure
import data.headroom.inventory.paths
import data.headroom.inventory.values

_bodies := {[path, group]: body |
	some path, document in paths.listed
	some group, body in document
	group != "_meta"
}

# A group that is only named as a child has no entry of its own in the document.
_keys := ({key | some key, _ in _bodies} | {[path, child] | some [path, _], body in _bodies; some child in _list(body, "children")}) | {[path, group] |
	some path, _ in paths.listed
	some group in ["all", "ungrouped"]
}

_list(body, name) := body[name] if {
	is_array(body[name])
} else := []

_parent_entries := [{"key": [path, child], "parent": [path, group]} | some [path, group], body in _bodies; some child in _list(body, "children")]

_parents := object.union({key: set() | some key in _keys}, _stated_parents)

_stated_parents := {key: found |
	some key in {entry.key | some entry in _parent_entries}
	found := {entry.parent | some entry in _parent_entries; entry.key == key}
}

_ancestors := closure.above(_parents)

_member_entries := [{"key": above, "hosts": found} |
	some key, body in _bodies
	found := {host | some host in _list(body, "hosts")}
	count(found) > 0
	some above in _ancestors[key]
]

_stated_members := {key: union(found) |
	some key in {entry.key | some entry in _member_entries}
	found := {entry.hosts | some entry in _member_entries; entry.key == key}
}

# Path → group → hosts. Hosts without variables have no entry below _meta, and a host that no group names is in `all`.
groups := object.union_n([{path: {group: found}} |
	some key in _keys
	[path, group] := key
	everywhere := union({object.keys(paths.listed[path]._meta.hostvars) | group == "all"})
	found := object.get(_stated_members, [key], set()) | everywhere
])

# Path → all variables that a host has there, each with one of its values.
_examples := {path: object.union_n([variables | some variables in document._meta.hostvars; is_object(variables)]) | some path, document in paths.listed}

examples(path) := values.listed(_examples[path])

# Few variables are left of each host, and those that are alike are taken apart once, because OPA remembers what a function gave.
bundles(path, names) := array.concat(
	[{"hosts": {host}, "known": found.known, "unknown": found.unknown} |
		some host, variables in with_variables
		found := values.listed(object.filter(variables, wanted))
	],
	[{"hosts": others, "known": {}, "unknown": {}} | count(others) > 0],
) if {
	wanted := object.keys(_examples[path]) & names
	with_variables := {host: variables | some host, variables in paths.listed[path]._meta.hostvars; is_object(variables)}
	others := groups[path].all - object.keys(with_variables)
}
