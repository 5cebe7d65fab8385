# METADATA
# title: Groups and their members
# description: The group graph of each inventory, the precedence of its groups (rule 7), and the groups of hosts. A key is [inventory, group].
package headroom.inventory.graph

import data.headroom.inventory.closure
import data.headroom.inventory.definitions
import data.headroom.inventory.paths

_defined := {[definition.root, definition.group] | some definition in definitions.groups}

# Since 2.27 kubespray's sample has no group k8s_cluster. Its playbooks add the hosts of these groups to it, so that its group_vars apply:
# playbooks/boilerplate.yml, and since 2.29 roles/dynamic_groups.
_part_of_k8s_cluster := {"kube_control_plane", "kube_node", "calico_rr"}

_added := {[root, "k8s_cluster"] |
	some [root, "group_vars", "k8s_cluster"] in paths.vars_names
	[root, "etcd"] in _defined
	[root, "kube_control_plane"] in _defined
	not [root, "k8s_cluster"] in _defined
}

# Every inventory has `all` and `ungrouped`.
keys := (_defined | _added) | {[root, group] |
	some root in {definition.root | some definition in definitions.groups}
	some group in ["all", "ungrouped"]
}

names := {root: groups |
	some root in {root | some [root, _] in keys}
	groups := {group | some [other, group] in keys; other == root}
}

_parent_entries := [{"key": [definition.root, definition.group], "parent": [definition.root, definition.parent]} |
	some definition in definitions.groups
	definition.parent != null
]

_named_parents := {key: found |
	some key in {entry.key | some entry in _parent_entries}
	found := {entry.parent | some entry in _parent_entries; entry.key == key}
}

# Rule 9: a group without a parent is a child of `all`; `ungrouped` always is.
parents := {key: (own | top) |
	some key in keys
	own := object.get(_named_parents, [key], set())
	top := {[key[0], "all"] | _is_child_of_all(key[1], own)}
}

_is_child_of_all("ungrouped", _)

_is_child_of_all(group, set()) if group != "all"

# Every group's ancestors, including itself.
ancestors := closure.ancestors(parents)

_several_parents := {key | some key, own in parents; count(own) > 1}

# Ansible refuses groups that contain themselves.
cyclic := {key |
	some key, own in parents
	some parent in own
	key in ancestors[parent]
}

# The longest path from `all` to each group; most groups have only one.
depth := object.union_n([
	{key: length | some key, above in ancestors; not key in _branching; length := count(above) - 1},
	{key: length | some key in _too_deep; length := count(ancestors[key])},
	{key: length | some key, lengths in _longest_paths; length := lengths[[key[0], "all"]]},
])

_branching := {key |
	count(_several_parents) > 0
	some key, above in ancestors
	count(above & _several_parents) > 0
}

# Beyond any realistic depth: the precedence of such groups stays unknown.
_most_ancestors := 50

_too_deep := {key | some key in _branching; count(ancestors[key]) > _most_ancestors}

# Group → ancestor → the longest path between them, for groups with several paths and their ancestors.
_longest_paths := _join_paths(_join_paths(_join_paths(_join_paths(_join_paths(_join_paths(shortest)))))) if {
	measured := union({ancestors[key] | some key in (_branching - _too_deep)})
	shortest := {key: object.union({key: 0}, {parent: 1 | some parent in parents[key]}) | some key in measured}
}

# Joins pairs of paths, which doubles their length.
_join_paths(paths) := {key: joined |
	some key, lengths in paths
	joined := {other: max(sums) |
		some other in ancestors[key]
		sums := {sum |
			some between, length in lengths
			sum := length + paths[between][other]
		}
		count(sums) > 0
	}
}

# Rule 8; the file that Ansible reads last wins.
_priority_entries := [{"key": [definition.root, definition.group], "rank": definition.rank, "priority": priority} |
	some definition in definitions.groups
	priority := definition.body.vars.ansible_group_priority
]

_priorities := {key: own |
	some key in {entry.key | some entry in _priority_entries}
	entries := [entry | some entry in _priority_entries; entry.key == key]
	last := max({entry.rank | some entry in entries})
	own := {entry.priority | some entry in entries; entry.rank == last}
}

# Sort key: a host's groups are merged in this order, the last one wins. Undecided groups come last within their depth, and folder.rego
# makes all their variables unknown.
precedence := {key: [length, undecided_rank, object.get(_priority, [key], 1), key[1]] |
	some key, length in depth
	undecided_rank := count([reason | reason := undecided[key]])
}

_number(value) := value if {
	is_number(value)
	value == floor(value)
} else := to_number(value) if {
	is_string(value)
	regex.match(`^-?(0|[1-9][0-9]*)$`, value)
}

_priority := {key: _number(value) |
	some key, own in _priorities
	count(own) == 1
	some value in own
}

# Group → why its precedence is unknown.
undecided := object.union(
	{key: "the priority of a group is given twice in one file" | some key, _ in _priorities; not _priority[key]},
	{key: sprintf("a group with more than %d others above it", [_most_ancestors]) | some key in _too_deep},
)

_section_entries := array.concat(_written, [{"key": [root, added], "hosts": entry.hosts} |
	some [root, added] in _added
	some entry in _written
	entry.key[0] == root
	count(ancestors[entry.key] & {[root, group] | some group in _part_of_k8s_cluster}) > 0
])

_written := [{"key": [section.root, section.group], "hosts": object.keys(section.hosts)} | some section in definitions.sections]

# The hosts named directly in each group.
_named := {key: union(found) |
	some key in {entry.key | some entry in _section_entries}
	found := {entry.hosts | some entry in _section_entries; entry.key == key}
}

hosts := {root: union(sets) |
	some root, _ in names
	sets := {found | some [other, _], found in _named; other == root}
}

# Without `all` and `ungrouped`, which do not matter for a host in another group.
_direct := {key: found | some key, found in _named; not key[1] in {"all", "ungrouped"}}

_grouped := {root: union(sets) |
	some root, _ in names
	sets := {found | some [other, _], found in _direct; other == root}
}

# Rule 10: `ungrouped` has exactly the hosts that are in no group but `all`.
_ungrouped := {root: rest | some root, found in hosts; rest := found - _grouped[root]}

# [inventory, groups] → the hosts named directly in exactly these groups. The variables of groups are merged once for each such set
# instead of once for each host.
classes := object.union(
	_classes,
	{[root, {"ungrouped"}]: found | some root, found in _ungrouped; count(found) > 0},
)

# In most inventories no host is in two groups, and no host is visited.
_classes := {[root, {group}]: found | some [root, group], found in _direct} if {
	sum([count(found) | some found in _direct]) == sum([count(found) | some found in _grouped])
} else := {key: found |
	some key in {[root, groups] | some [root, _], groups in _groups_of}
	found := {host | some [root, host], groups in _groups_of; [root, groups] == key}
}

_pairs := [{"key": [root, host], "group": group} | some [root, group], found in _direct; some host in found]

_groups_of := {key: groups |
	some key in {pair.key | some pair in _pairs}
	groups := {pair.group | some pair in _pairs; pair.key == key}
}

# root → group → its hosts and those of its descendants.
members := object.union_n([{root: {group: found}} |
	some key in keys
	[root, group] := key
	found := _members(key)
])

_members([root, "all"]) := hosts[root]

_members(key) := object.get(_below, [key], set()) | object.get(_direct_or_ungrouped, [key], set()) if {
	key[1] != "all"
}

_direct_or_ungrouped := object.union(_direct, {[root, "ungrouped"]: found | some root, found in _ungrouped})

# Hosts of descendants.
_below := {key: union(found) |
	some key in {entry.key | some entry in _below_entries}
	found := {entry.hosts | some entry in _below_entries; entry.key == key}
}

_below_entries := [{"key": above, "hosts": found} |
	some key, found in _direct_or_ungrouped
	some above in (ancestors[key] - {key, [key[0], "all"]})
]

# These groups and their ancestors except `all`, in order of precedence.
with_ancestors(root, direct) := [position[count(position) - 1] |
	some position in sort({precedence[key] |
		some member in direct
		some key in ancestors[[root, member]]
		key[1] != "all"
	})
]
