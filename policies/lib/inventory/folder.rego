# METADATA
# title: An inventory directory, resolved as Ansible resolves it
# description: |
#   The variables of each host, from inventory files, group_vars and host_vars in YAML or JSON. Every step is one pass over the hosts
#   or over the groups: none compares hosts with hosts. Layers are those of headroom.inventory.values.
package headroom.inventory.folder

import data.headroom.inventory.definitions
import data.headroom.inventory.graph
import data.headroom.inventory.paths
import data.headroom.inventory.values

_group_entries := [{"key": [definition.root, definition.group], "definition": stated} |
	some definition in definitions.groups
	variables := _object(definition.body.vars)
	count(variables) > 0
	stated := {"rank": definition.rank, "path": definition.path, "plain": definition.plain, "variables": variables}
]

_group_files := {key: found |
	some key in {entry.key | some entry in _group_entries}
	found := {entry.definition | some entry in _group_entries; entry.key == key}
}

# `vars: name` is a variable without a value.
_object(variables) := object.remove(variables, {"ansible_group_priority"}) if {
	is_object(variables)
} else := {variables: null} if {
	is_string(variables)
}

_host_entries := [{"key": [section.root, host], "definition": stated} |
	some section in definitions.sections
	some host, variables in section.hosts
	is_object(variables)
	count(variables) > 0
	stated := {"rank": section.rank, "path": section.path, "plain": section.plain, "variables": variables}
]

_host_files := {key: found |
	some key in {entry.key | some entry in _host_entries}
	found := {entry.definition | some entry in _host_entries; entry.key == key}
}

# Rule 3 and 4: the variables of a name in group_vars or host_vars; undefined where there are none.
_vars_files(root, kind, name) := values.unite([values.layer(variables, paths.plain(path)) |
	some path in found
	variables := paths.contents[path]
	is_object(variables)
]) if {
	found := paths.vars_files[[root, kind, name]]
}

# [inventory, group] → its layer in inventory files, and in group_vars. Groups that say nothing have none.
_file_layers := {key: layer |
	some key in (object.keys(_group_files) | _names_of_hosts)
	layer := _decided(key, _without_names_of_hosts(key, values.merge(object.get(_group_files, [key], set()))))
}

_vars_layers := {key: layer |
	some key in graph.keys
	[root, group] := key
	layer := _decided(key, _vars_files(root, "group_vars", group))
}

# The variables of a group whose place among the others is not known.
_decided(key, layer) := values.unknown(object.keys(layer.values), reason) if {
	reason := graph.undecided[key]
} else := layer

# A host with the name of a group gives its variables to that group, in an order that is lost here.
_names_of_hosts := {[root, name] | some root, hosts in graph.hosts; some name in (hosts & graph.names[root])}

_same_name := "a host and a group have the same name"

_without_names_of_hosts(key, layer) := values.unite([layer, values.unknown(_variables_of(key), _same_name)]) if {
	key in _names_of_hosts
} else := layer

_variables_of(key) := {name | some definition in _host_files[key]; some name, _ in definition.variables}

# Rule 2, the layers below a host's own variables: inventory files first (`all`, then the other groups), then group_vars in the same order.
_layers(root, direct) := [layers[key] |
	some layers in [_file_layers, _vars_layers]
	some group in array.concat(["all"], graph.merged_groups(root, direct))
	key := [root, group]
]

# NAME:PORT gives ansible_port where the host is mentioned first; anything that sets the variable by its name comes after.
_with_port := {[section.root, host] |
	some section in definitions.sections
	section.port > 0
	some host, _ in section.hosts
}

_mentions := [{"key": [section.root, host], "rank": section.rank, "port": section.port} |
	count(_with_port) > 0
	some section in definitions.sections
	some host, _ in section.hosts
]

# [inventory, host] → the layer of that port.
_ports := {key: _port(found) |
	some key in _with_port
	mentions := [mention | some mention in _mentions; mention.key == key]
	first := min({mention.rank | some mention in mentions})
	found := {mention.port | some mention in mentions; mention.rank == first}
	found != {0}
}

_port(found) := values.layer({"ansible_port": port}, true) if {
	count(found) == 1
	some port in found
} else := values.unknown({"ansible_port"}, "a host named twice in one file, with and without a port")

# A host's own variables: the port beside its name, inventory files, then host_vars.
_own(key) := {"known": definition.variables, "unknown": {}} if {
	count(_host_files[key]) == 1
	some definition in _host_files[key]
	definition.plain
	not key in _with_port
	not [key[0], "host_vars", key[1]] in paths.vars_names
	not key in _names_of_hosts
} else := values.settle(values.unite([object.get(_ports, [key], values.nothing), _own_files(key), _vars_layer(key[0], "host_vars", key[1])]))

_own_files(key) := values.unknown(_variables_of(key), _same_name) if {
	key in _names_of_hosts
} else := values.merge(object.get(_host_files, [key], set()))

# What a host has for itself over what it shares with others.
_over(own, shared) := {
	"known": object.union(object.remove(shared.known, names), own.known),
	"unknown": object.union(object.remove(shared.unknown, names), own.unknown),
} if {
	names := object.keys(own.known) | object.keys(own.unknown)
}

# [inventory, groups] → what all hosts in these groups share.
_shared := {key: values.settle(values.unite(_layers(key[0], key[1]))) | some key, _ in graph.classes}

# Inventory → group → hosts.
groups := {root: object.get(graph.members, root, {"all": set(), "ungrouped": set()}) | some root in paths.roots}

# The hosts by what they have of these variables; those that have none of them for themselves are together.
bundles(root, names) := array.concat(
	[{"hosts": hosts, "known": _only(shared.known, names), "unknown": _only(shared.unknown, names)} |
		some [other, direct], members in graph.classes
		other == root
		hosts := members - (in_files | in_host_vars)
		count(hosts) > 0
		shared := _shared[[root, direct]]
	],
	[{"hosts": {host}, "known": found.known, "unknown": found.unknown} |
		count(in_files) + count(in_host_vars) > 0
		some [other, direct], members in graph.classes
		other == root
		shared := {kind: _only(variables, names) | some kind, variables in _shared[[root, direct]]}
		some host in (members & (in_files | in_host_vars))
		own := {kind: _only(variables, names) | some kind, variables in _own_for_bundles([root, host], host in in_files)}
		found := _over(own, shared)
	],
) if {
	in_files := _with_own_in_files(root, names)
	in_host_vars := _with_own_in_host_vars(root, names)
}

_own_for_bundles(key, true) := _own(key)

_own_for_bundles([root, host], false) := values.settle(_vars_files(root, "host_vars", host))

# object.filter() goes through the larger of the two.
_only(variables, names) := object.filter(variables, object.keys(variables) & names)

# The hosts that have one of these variables for themselves, in inventory files and in host_vars.
_with_own_in_files(root, names) := {host |
	count(_names_in_files & names) > 0
	some section in _telling_sections
	section.root == root
	count(section.names & names) > 0
	some host, variables in section.hosts
	is_object(variables)
	count(object.keys(variables) & names) > 0
} | ({host | some [other, host] in _names_of_hosts; other == root} | {host |
	"ansible_port" in names
	some [other, host] in _with_port
	other == root
})

_names_in_files := union({section.names | some section in _telling_sections})

_with_own_in_host_vars(root, names) := {entry.host |
	count(_names_in_host_vars & names) > 0
	some entry in _host_vars_entries
	entry.root == root
	count(entry.names & names) > 0
}

_names_in_host_vars := union({entry.names | some entry in _host_vars_entries})

_host_vars_entries := [{"root": root, "host": host, "names": object.keys(layer.values), "layer": layer} |
	some [root, "host_vars", host] in paths.vars_names
	layer := _vars_files(root, "host_vars", host)
]

# The sections that say something of their hosts, with one value of each variable.
_telling_sections := [object.union(section, {"names": object.keys(example.values), "example": example}) |
	some section in definitions.sections
	stated := [variables | some variables in section.hosts; is_object(variables)]
	count(stated) > 0
	example := _example(stated, section.plain)
]

_example(stated, true) := values.layer(object.union_n(stated), true)

_example(stated, false) := values.unite([values.layer(variables, false) | some variables in stated])

# All variables of an inventory's hosts, each with one of its values.
examples(root) := values.examples(array.concat(
	[layer |
		some group, members in graph.members[root]
		count(members) > 0
		some layers in [_file_layers, _vars_layers]
		layer := layers[[root, group]]
	],
	array.concat(
		[section.example | some section in _telling_sections; section.root == root],
		[entry.layer |
			some entry in _host_vars_entries
			entry.root == root
			entry.host in graph.hosts[root]
		],
	),
))

# The file that gave a host's variable its value: the last of all that set it, the strongest layer last.
origin(root, host, name) := found[count(found) - 1] if {
	found := array.concat(_from_groups(root, host, name), _from_host(root, host, name))
}

_from_groups(root, host, name) := [path |
	groups := array.concat(["all"], graph.merged_groups(root, _class_of[[root, host]]))
	some kind in ["files", "group_vars"]
	some group in groups
	some [path, variables] in _sources(kind, root, group)
	name in object.keys(variables)
]

_from_host(root, host, name) := [path |
	some source in array.concat(
		sort([[section.rank, section.path, section.hosts[host]] |
			some group in (_class_of[[root, host]] | {"all", "ungrouped"})
			some section in _sections_of[[root, group]]
			name in section.names
		]),
		[[0, path, variables] | some [path, variables] in _sources("host_vars", root, host)],
	)
	[_, path, variables] := source
	name in object.keys(variables)
]

_telling_entries := [{"key": [section.root, section.group], "section": section} | some section in _telling_sections]

# [inventory, group] → the sections right below it that say something of their hosts.
_sections_of := {key: sections |
	some key in {entry.key | some entry in _telling_entries}
	sections := [entry.section | some entry in _telling_entries; entry.key == key]
}

_class_of := {[root, host]: direct |
	some [root, direct], members in graph.classes
	some host in members
}

# [file, variables] in the order in which Ansible reads them.
_sources("files", root, group) := [[path, variables] |
	some [_, path, variables] in sort([[definition.rank, definition.path, definition.variables] |
		some definition in object.get(_group_files, [[root, group]], set())
	])
]

_sources(kind, root, name) := [[path, paths.contents[path]] |
	some path in paths.vars_files[[root, kind, name]]
] if {
	kind != "files"
}

# What a host will get that joins a group without visible hosts: inventories in INI show none here, but their group_vars can be read.
future(root, group) := values.settle(values.unite([
	_file_layer([root, "all"]),
	_file_layer([root, group]),
	_vars_layer(root, "group_vars", "all"),
	_vars_layer(root, "group_vars", group),
]))

_file_layer(key) := object.get(_file_layers, [key], values.nothing)

_vars_layer(root, kind, name) := layer if {
	layer := _vars_files(root, kind, name)
} else := values.nothing
