# METADATA
# title: An inventory directory, resolved as Ansible resolves it
# description: |
#   The variables of each host, from inventory files, group_vars and host_vars in YAML or JSON. Every step is one pass over the hosts
#   or over the groups: none compares hosts with hosts.
package headroom.inventory.folder

import data.headroom.inventory.definitions
import data.headroom.inventory.graph
import data.headroom.inventory.paths
import data.headroom.inventory.values

_group_files := {key: found |
	some key in {[definition.root, definition.group] | some definition in definitions.groups}
	found := {{"rank": definition.rank, "path": definition.path, "variables": _object(definition.body.vars)} |
		some definition in definitions.groups
		[definition.root, definition.group] == key
	}
}

# `vars: name` is a variable without a value.
_object(variables) := object.remove(variables, {"ansible_group_priority"}) if {
	is_object(variables)
} else := {variables: null} if {
	is_string(variables)
}

_in_files(key) := values.merge(_group_files[key]) if {
	count(_group_files[key]) > 0
} else := {}

_from_vars_files(root, kind, name) := object.union_n([values.wrap(paths.contents[path], path) |
	some path in paths.vars_files(root, kind, name)
	is_object(paths.contents[path])
]) if {
	name in paths.vars_names[[root, kind]]
} else := {}

# Rule 2, the layers below a host's own variables: inventory files first (`all`, then the other groups), then group_vars in the same order.
_group_layers := {[root, group]: {"files": _doubted([root, group], files), "group_vars": _doubted([root, group], group_vars)} |
	some root, groups in graph.names
	some group in groups
	files := _without_names_of_hosts([root, group], _in_files([root, group]))
	group_vars := _from_vars_files(root, "group_vars", group)
}

# The variables of a group whose place among the others is not known.
_doubted(key, wrapped) := {name: [null, item[1], "the priority of a group is given twice in one file"] | some name, item in wrapped} if {
	key in graph.undecided
} else := wrapped

_same_name := "a host and a group have the same name"

# A host with the name of a group gives its variables to that group, in an order that is lost here.
_without_names_of_hosts(key, wrapped) := object.union(wrapped, {name: [null, "", _same_name] |
	some definition in _host_files[key]
	some name, _ in definition.variables
}) if {
	_host_files[key]
} else := wrapped

_merged_layers(root, direct) := object.union_n(array.concat(
	[_group_layers[[root, group]].files | some group in groups],
	[_group_layers[[root, group]].group_vars | some group in groups],
)) if {
	groups := array.concat(["all"], graph.merged_groups(root, direct))
}

# What all hosts in the same groups share. Mostly no two layers set the same variable to a map, and nothing is unknown: then the plain
# values can be united natively, in a fraction of the time.
_shared(root, direct) := {"known": object.union_n([layer.known | some layer in layers]), "unknown": {}} if {
	layers := _layers(root, direct)
	every layer in layers { layer.sure }
	maps := [name | some layer in layers; some name in layer.maps]
	count(maps) == count({name | some name in maps})
} else := {"known": values.known(merged), "unknown": values.unknown(merged)} if {
	merged := _merged_layers(root, direct)
}

_layers(root, direct) := array.concat(
	[_plain_layers[[root, group]].files | some group in groups],
	[_plain_layers[[root, group]].group_vars | some group in groups],
) if {
	groups := array.concat(["all"], graph.merged_groups(root, direct))
}

_plain_layers := {key: {kind: _plain(wrapped) | some kind, wrapped in kinds} | some key, kinds in _group_layers}

_plain(wrapped) := {
	"known": values.known(wrapped),
	"sure": count(values.unknown(wrapped)) == 0,
	"maps": [name | some name, item in wrapped; is_object(item[0])],
}

_host_entries := [{"key": [mention.root, mention.host], "definition": {"rank": mention.rank, "path": mention.path, "variables": mention.variables}} |
	some mention in definitions.hosts
	count(mention.variables) > 0
]

_host_files := {key: found |
	some key in {entry.key | some entry in _host_entries}
	found := {entry.definition | some entry in _host_entries; entry.key == key}
}

# NAME:PORT gives ansible_port where the host is mentioned first; anything that sets the variable by its name comes after.
_with_port := {[mention.root, mention.host] | some mention in definitions.hosts; mention.port > 0}

_ports := {key: found |
	some key in _with_port
	entries := {[mention.rank, mention.port, mention.path] | some mention in definitions.hosts; [mention.root, mention.host] == key}
	first := min({rank | some [rank, _, _] in entries})
	found := {[port, path] | some [rank, port, path] in entries; rank == first}
}

_port(key) := {"ansible_port": _first_port(_ports[key])} if {
	some [port, _] in _ports[key]
	port > 0
} else := {}

_first_port(first) := [port, path] if {
	count(first) == 1
	some [port, path] in first
} else := [null, path, "a host named twice in one file, with and without a port"] if {
	some path in {path | some [_, path] in first}
}

# Inventory files, then host_vars.
_own(root, host) := object.union_n([_port([root, host]), _own_files(root, host), _from_vars_files(root, "host_vars", host)])

_own_files(root, host) := {name: [null, "", _same_name] |
	some definition in _host_files[[root, host]]
	some name, _ in definition.variables
} if {
	host in graph.names[root]
} else := values.merge(_host_files[[root, host]]) if {
	_host_files[[root, host]]
} else := {}

_has_own(root, host) if _host_files[[root, host]]

_has_own(root, host) if [root, host] in _with_port

_has_own(root, host) if host in paths.vars_names[[root, "host_vars"]]

# root → host → {known, unknown}
_resolved := object.union_n([{root: hosts} |
	some [root, direct], members in graph.hosts_by_groups
	shared := _shared(root, direct)
	hosts := {host: _resolve(root, host, shared) | some host in members}
])

_resolve(root, host, shared) := {
	"known": object.union(object.remove(shared.known, names), values.known(own)),
	"unknown": object.union(object.remove(shared.unknown, names), values.unknown(own)),
} if {
	_has_own(root, host)
	own := _own(root, host)
	names := object.keys(own)
} else := shared

inventories := {root: {"hosts": hosts, "groups": groups, "unknown": unknown, "opaque": opaque, "refused": refused} |
	some root in paths.roots
	resolved := object.get(_resolved, root, {})
	hosts := {host: found.known | some host, found in resolved}
	unknown := {host: found.unknown | some host, found in resolved; count(found.unknown) > 0}
	groups := object.union(
		{group: set() | some group in object.get(graph.names, root, {"all", "ungrouped"})},
		object.get(_members, root, {}),
	)
	opaque := object.get(paths.opaque, root, {})
	refused := object.get(definitions.refused, root, {})
}

_memberships := {[root, group, host] |
	some [root, direct], hosts in graph.hosts_by_groups
	some group in {group | some member in direct; some group in graph.ancestors[root][member]}
	some host in hosts
}

_members := object.union_n([{root: {group: hosts}} |
	some key in {[root, group] | some [root, group, _] in _memberships}
	[root, group] := key
	hosts := {host | some [other, name, host] in _memberships; [other, name] == key}
])

# The file that gave a host's variable its value.
origin(root, host, name) := path if {
	path := _own(root, host)[name][1]
} else := path if {
	some [other, direct], hosts in graph.hosts_by_groups
	other == root
	host in hosts
	path := _merged_layers(root, direct)[name][1]
}

# What a host will get that joins a group without visible hosts: inventories in INI show none here, but their group_vars can be read.
future(root, group) := {"known": values.known(layers), "unknown": values.unknown(layers)} if {
	stated := object.get(_group_layers, [[root, "all"]], {})
	layers := object.union_n([
		object.get(stated, "files", {}),
		_from_vars_files(root, "group_vars", "all"),
		_from_vars_files(root, "group_vars", group),
	])
}
