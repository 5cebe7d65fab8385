# METADATA
# title: Groups and who is in them
# description: The graph of groups of each inventory directory, its order of precedence (rule 7), and the groups of each host.
package headroom.inventory.graph

import data.headroom.inventory.definitions

_names_entries[definition.root] contains definition.group if some definition in definitions.groups

names := {root: found |
	some root, stated in _names_entries
	found := stated | {"all", "ungrouped"}
}

_parents_entries[definition.root][definition.group] contains definition.parent if {
	some definition in definitions.groups
	definition.parent != null
}

# Rule 9: what has no parent hangs from `all`, and `ungrouped` always does.
parents := {root: graph_of_root |
	some root, groups in names
	stated := object.get(_parents_entries, root, {})
	graph_of_root := {group: _parents_of(group, object.get(stated, group, set())) | some group in groups}
}

_parents_of("all", stated) := stated

_parents_of("ungrouped", stated) := stated | {"all"}

_parents_of(group, stated) := stated if {
	not group in {"all", "ungrouped"}
	count(stated) > 0
} else := {"all"} if {
	not group in {"all", "ungrouped"}
}

# Every group's ancestors, itself among them.
ancestors := {root: {group: graph.reachable(graph_of_root, {group}) | some group, _ in graph_of_root} | some root, graph_of_root in parents}

# Groups that contain themselves, which Ansible refuses.
cyclic[root] contains group if {
	some root, graph_of_root in parents
	some group, stated in graph_of_root
	group in graph.reachable(graph_of_root, stated)
}

_children_entries[root][parent] contains group if {
	some root, graph_of_root in parents
	some group, stated in graph_of_root
	some parent in stated
}

# The longest way from `all` to each group. Without recursion: reachability in a graph whose nodes are [group, length of the way].
# No way is longer than the largest number of ancestors, so that number bounds the graph.
_lengths[root][group] contains length if {
	some root, children in _children_entries
	longest := max({count(found) | some found in ancestors[root]})
	steps := {[parent, length]: {[group, length + 1] | some group in groups} |
		some parent, groups in children
		some length in numbers.range(0, longest)
	}
	some [group, length] in graph.reachable(steps, {["all", 0]})
}

depth := {root: {group: max(lengths) | some group, lengths in groups} | some root, groups in _lengths}

# `ansible_group_priority` counts in inventory files only (rule 8); the file that is read last wins.
_priority_entries[definition.root][definition.group] contains [definition.rank, priority] if {
	some definition in definitions.groups
	priority := definition.body.vars.ansible_group_priority
}

# Where a group stands among its host's groups: they are merged in this order, the last wins. A priority that cannot be known
# puts the group last in its depth, and `undecided` turns all its variables into unknown ones.
order := {root: {group: [length, _undecided_rank(root, group), _priority(root, group), group] | some group, length in groups} |
	some root, groups in depth
}

_stated_priority(root, group) := {priority |
	entries := _priority_entries[root][group]
	last := max({rank | some [rank, _] in entries})
	some [read, priority] in entries
	read == last
}

_number(value) := value if {
	is_number(value)
	value == floor(value)
} else := to_number(value) if {
	is_string(value)
	regex.match(`^-?(0|[1-9][0-9]*)$`, value)
}

_priority(root, group) := priority if {
	stated := _stated_priority(root, group)
	count(stated) == 1
	some value in stated
	priority := _number(value)
} else := 1

undecided[root] contains group if {
	some root, groups in _priority_entries
	some group, _ in groups
	not _decided(_stated_priority(root, group))
}

_decided(stated) if {
	count(stated) == 1
	some value in stated
	_number(value)
}

_undecided_rank(root, group) := 1 if {
	group in undecided[root]
} else := 0

_direct_entries[mention.root][mention.host] contains mention.group if some mention in definitions.hosts

# Hosts by the set of groups that name them: what groups decide is then merged once for each such set, not for each host.
# Rule 10: `ungrouped` holds exactly the hosts that are in no group but `all`.
hosts_by_groups[root][_grouped(groups - {"all", "ungrouped"})] contains host if {
	some root, hosts in _direct_entries
	some host, groups in hosts
}

_grouped(groups) := groups if {
	count(groups) > 0
} else := {"ungrouped"}

# The groups of such a set and all their ancestors, in order of precedence, without `all`.
merged_groups(root, direct) := [position[count(position) - 1] |
	some position in sort({order[root][group] |
		some member in direct
		some group in ancestors[root][member]
		group != "all"
	})
]
