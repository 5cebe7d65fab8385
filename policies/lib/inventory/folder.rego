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

# Rule 2, the layers below a host's own variables: inventory files first (`all`, then the other groups), then group_vars in the same order.
_group_file_entries[definition.root][definition.group] contains {"rank": definition.rank, "path": definition.path, "variables": variables} if {
	some definition in definitions.groups
	variables := object.remove(_object(definition.body.vars), {"ansible_group_priority"})
	count(variables) > 0
}

# `vars: name` is a variable without a value.
_object(variables) := variables if {
	is_object(variables)
} else := {variables: null} if {
	is_string(variables)
}

_in_files(root, group) := values.merge(_group_file_entries[root][group]) if {
	_group_file_entries[root][group]
} else := {}

_from_vars_files(root, kind, name) := object.union_n([values.wrap(paths.contents[path], path) |
	some path in paths.vars_files(root, kind, name)
	is_object(paths.contents[path])
])

_group_layers := {root: {group: {"files": _doubted(root, group, files), "group_vars": _doubted(root, group, group_vars)} |
	some group in groups
	files := _without_names_of_hosts(root, group, _in_files(root, group))
	group_vars := _from_vars_files(root, "group_vars", group)
} |
	some root, groups in graph.names
}

# The variables of a group whose place among the others is not known.
_doubted(root, group, wrapped) := {name: [null, item[1], "the priority of a group is given twice in one file"] |
	some name, item in wrapped
} if {
	group in graph.undecided[root]
} else := wrapped

# A host with the name of a group gives its variables to that group, in an order that is lost here.
_without_names_of_hosts(root, group, wrapped) := object.union(wrapped, {name: [null, "", "a host and a group have the same name"] |
	some definition in _host_entries[root][group]
	some name, _ in definition.variables
}) if {
	_host_entries[root][group]
} else := wrapped

_merged_layers(root, direct) := object.union_n(array.concat(
	[_group_layers[root][group].files | some group in groups],
	[_group_layers[root][group].group_vars | some group in groups],
)) if {
	groups := array.concat(["all"], graph.merged_groups(root, direct))
}

_host_entries[mention.root][mention.host] contains {"rank": mention.rank, "path": mention.path, "variables": mention.variables} if {
	some mention in definitions.hosts
	count(mention.variables) > 0
}

_host_files := {root: hosts | some root, hosts in _host_entries}

# NAME:PORT gives ansible_port where the host is mentioned first; anything that sets the variable by its name comes after.
_port_entries[mention.root][mention.host] contains [mention.rank, mention.port, mention.path] if some mention in definitions.hosts

_with_port := {root: {host |
	some host, entries in hosts
	some [_, port, _] in entries
	port > 0
} |
	some root, hosts in _port_entries
}

_port(root, host) := {"ansible_port": _first_port(first)} if {
	host in _with_port[root]
	entries := _port_entries[root][host]
	first_rank := min({rank | some [rank, _, _] in entries})
	first := {[port, path] | some [rank, port, path] in entries; rank == first_rank}
	some [port, _] in first
	port > 0
} else := {}

_first_port(first) := [port, path] if {
	count(first) == 1
	some [port, path] in first
} else := [null, path, "a host named twice in one file, with and without a port"] if {
	some path in {path | some [_, path] in first}
}

# Inventory files, then host_vars.
_own(root, host) := object.union_n([_port(root, host), _own_files(root, host), _from_vars_files(root, "host_vars", host)])

_own_files(root, host) := {} if {
	host in graph.names[root]
} else := values.merge(_host_files[root][host]) if {
	_host_files[root][host]
} else := {}

_with_own := {root: hosts |
	some root in paths.roots
	in_files := object.keys(object.get(_host_files, root, {}))
	hosts := (in_files | paths.vars_names(root, "host_vars")) | object.get(_with_port, root, set())
}

# root → host → {known, unknown, own, groups}
_resolved := {root: {host: resolved |
	some direct, members in combinations
	layers := _merged_layers(root, direct)
	shared := {"known": values.known(layers), "unknown": values.unknown(layers)}
	some host in members
	resolved := _resolve(root, host, shared)
} |
	some root, combinations in _combinations
}

_combinations := {root: combinations | some root, combinations in graph.hosts_by_groups}

_resolve(root, host, shared) := {
	"known": object.union(object.remove(shared.known, names), values.known(own)),
	"unknown": object.union(object.remove(shared.unknown, names), values.unknown(own)),
} if {
	host in _with_own[root]
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

_member_entries[root][group] contains host if {
	some root, combinations in _combinations
	some direct, hosts in combinations
	some group in {group | some member in direct; some group in graph.ancestors[root][member]}
	some host in hosts
}

_members := {root: groups | some root, groups in _member_entries}
