# METADATA
# title: Inventory directories
# description: |
#   Resolves inventory files, group_vars and host_vars as Ansible does. Every step is a single pass over hosts or groups; comparing hosts
#   with hosts would be quadratic. For layers see inventory.values.
package headroom.inventory.folder

import data.headroom.files
import data.headroom.inventory.definitions
import data.headroom.inventory.graph
import data.headroom.inventory.paths
import data.headroom.inventory.values

_group_entries := [{"key": [group.root, group.group], "definition": definition} |
	some group in definitions.groups
	variables := _object(group.body.vars)
	count(variables) > 0
	definition := {"rank": group.rank, "path": group.path, "plain": group.plain, "variables": variables}
]

_group_files := {key: found |
	some key in {entry.key | some entry in _group_entries}
	found := {entry.definition | some entry in _group_entries; entry.key == key}
}

# `vars: name` defines a variable without a value.
_object(variables) := object.remove(variables, {"ansible_group_priority"}) if {
	is_object(variables)
} else := {variables: null} if {
	is_string(variables)
}

_host_entries := [{"key": [section.root, host], "definition": definition} |
	some section in definitions.sections
	some host, variables in section.hosts
	is_object(variables)
	count(variables) > 0
	definition := {"rank": section.rank, "path": section.path, "plain": section.plain, "variables": variables}
]

_host_files := {key: found |
	some key in {entry.key | some entry in _host_entries}
	found := {entry.definition | some entry in _host_entries; entry.key == key}
}

# Undefined for a name without variables in group_vars or host_vars.
_vars_files(root, kind, name) := values.overlay([values.layer(variables, paths.is_plain(path)) |
	some path in found
	variables := files.contents[path]
	is_object(variables)
]) if {
	found := paths.vars_files[[root, kind, name]]
}

# [inventory, group] → its layer in inventory files, and in group_vars.
_file_layers := {key: layer |
	some key in (object.keys(_group_files) | _names_of_hosts)
	layer := _with_known_precedence(key, _without_names_of_hosts(key, values.merge(object.get(_group_files, [key], set()))))
}

_vars_layers := {key: layer |
	some key in graph.keys
	[root, group] := key
	layer := _with_known_precedence(key, _vars_files(root, "group_vars", group))
}

# Without a known precedence every variable of the group is unknown.
_with_known_precedence(key, layer) := values.unknown(object.keys(layer.values), reason) if {
	reason := graph.undecided[key]
} else := layer

# Ansible gives the variables of such a host to the group, in an order that conftest loses.
_names_of_hosts := {[root, name] | some root, hosts in graph.hosts; some name in (hosts & graph.names[root])}

_same_name := "a host and a group have the same name"

_without_names_of_hosts(key, layer) := values.overlay([layer, values.unknown(_variables_of(key), _same_name)]) if {
	key in _names_of_hosts
} else := layer

_variables_of(key) := {name | some definition in _host_files[key]; some name, _ in definition.variables}

# Rule 2: the layers below a host's own variables.
_layers(root, direct) := [layers[key] |
	some layers in [_file_layers, _vars_layers]
	some group in array.concat(["all"], graph.with_ancestors(root, direct))
	key := [root, group]
]

# Rule 13: NAME:PORT sets ansible_port if it is the host's first mention; a variable of that name takes precedence.
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

# [inventory, host] → layer.
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

# A host's own variables from NAME:PORT, inventory files and host_vars. The first branch is a shortcut for the usual case.
_own(key) := {"known": definition.variables, "unknown": {}} if {
	count(_host_files[key]) == 1
	some definition in _host_files[key]
	definition.plain
	not key in _with_port
	not [key[0], "host_vars", key[1]] in paths.vars_names
	not key in _names_of_hosts
} else := values.resolve(values.overlay([object.get(_ports, [key], values.empty), _own_files(key), _vars_layer(key[0], "host_vars", key[1])]))

_own_files(key) := values.unknown(_variables_of(key), _same_name) if {
	key in _names_of_hosts
} else := values.merge(object.get(_host_files, [key], set()))

_overlay(own, shared) := {
	"known": object.union(object.remove(shared.known, names), own.known),
	"unknown": object.union(object.remove(shared.unknown, names), own.unknown),
} if {
	names := object.keys(own.known) | object.keys(own.unknown)
}

# [inventory, groups] → variables that all hosts of these groups share.
_shared := {key: values.resolve(values.overlay(_layers(key[0], key[1]))) | some key, _ in graph.classes}

# Inventory → group → hosts.
groups := {root: object.get(graph.members, root, {"all": set(), "ungrouped": set()}) | some root in paths.roots}

# See inventory.bundles. Hosts without own values of these variables are one bundle.
bundles(root, names) := array.concat(
	[{"hosts": hosts, "known": _filter(shared.known, names), "unknown": _filter(shared.unknown, names)} |
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
		shared := {kind: _filter(variables, names) | some kind, variables in _shared[[root, direct]]}
		some host in (members & (in_files | in_host_vars))
		own := {kind: _filter(variables, names) | some kind, variables in _own_for_bundles([root, host], host in in_files)}
		found := _overlay(own, shared)
	],
) if {
	in_files := _with_own_in_files(root, names)
	in_host_vars := _with_own_in_host_vars(root, names)
}

_own_for_bundles(key, true) := _own(key)

_own_for_bundles([root, host], false) := values.resolve(_vars_files(root, "host_vars", host))

# object.filter() iterates over the larger operand.
_filter(variables, names) := object.filter(variables, object.keys(variables) & names)

# Hosts with own values of these variables.
_with_own_in_files(root, names) := {host |
	count(_names_in_files & names) > 0
	some section in _sections_with_variables
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

_names_in_files := union({section.names | some section in _sections_with_variables})

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

# With an example value of each variable.
_sections_with_variables := [object.union(section, {"names": object.keys(example.values), "example": example}) |
	some section in definitions.sections
	with_variables := [variables | some variables in section.hosts; is_object(variables)]
	count(with_variables) > 0
	example := _example(with_variables, section.plain)
]

_example(with_variables, true) := values.layer(object.union_n(with_variables), true)

_example(with_variables, false) := values.overlay([values.layer(variables, false) | some variables in with_variables])

# See inventory.examples.
examples(root) := values.examples(array.concat(
	[layer |
		some group, members in graph.members[root]
		count(members) > 0
		some layers in [_file_layers, _vars_layers]
		layer := layers[[root, group]]
	],
	array.concat(
		[section.example | some section in _sections_with_variables; section.root == root],
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
	groups := array.concat(["all"], graph.with_ancestors(root, _class_of[[root, host]]))
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

_section_entries := [{"key": [section.root, section.group], "section": section} | some section in _sections_with_variables]

# [inventory, group] → its sections with variables.
_sections_of := {key: sections |
	some key in {entry.key | some entry in _section_entries}
	sections := [entry.section | some entry in _section_entries; entry.key == key]
}

_class_of := {[root, host]: direct |
	some [root, direct], members in graph.classes
	some host in members
}

# [file, variables] in Ansible's order.
_sources("files", root, group) := [[path, variables] |
	some [_, path, variables] in sort([[definition.rank, definition.path, definition.variables] |
		some definition in object.get(_group_files, [[root, group]], set())
	])
]

_sources(kind, root, name) := [[path, files.contents[path]] |
	some path in paths.vars_files[[root, kind, name]]
] if {
	kind != "files"
}

# The variables of a host that joins a group. Hosts in INI inventories are not visible here, but their group_vars can be checked.
new_member(root, group) := values.resolve(values.overlay([
	_file_layer([root, "all"]),
	_file_layer([root, group]),
	_vars_layer(root, "group_vars", "all"),
	_vars_layer(root, "group_vars", group),
]))

_file_layer(key) := object.get(_file_layers, [key], values.empty)

_vars_layer(root, kind, name) := layer if {
	layer := _vars_files(root, kind, name)
} else := values.empty
