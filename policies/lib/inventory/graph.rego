# METADATA
# title: Groups and who is in them
# description: The graph of groups of each inventory directory, its order of precedence (rule 7), and the groups of each host.
package headroom.inventory.graph

import data.headroom.inventory.definitions

names := {root: found |
	some root in {definition.root | some definition in definitions.groups}
	stated := {definition.group | some definition in definitions.groups; definition.root == root}
	found := stated | {"all", "ungrouped"}
}

_stated_parents := {key: found |
	some key in {[definition.root, definition.group] | some definition in definitions.groups}
	found := {definition.parent |
		some definition in definitions.groups
		[definition.root, definition.group] == key
		definition.parent != null
	}
}

# Rule 9: what has no parent hangs from `all`, and `ungrouped` always does.
parents := {root: graph_of_root |
	some root, groups in names
	graph_of_root := {group: _parents_of(group, object.get(_stated_parents, [[root, group]], set())) | some group in groups}
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
cyclic := {[root, group] |
	some root, graph_of_root in parents
	some group, stated in graph_of_root
	group in graph.reachable(graph_of_root, stated)
}

_edges := {[root, parent, group] |
	some root, graph_of_root in parents
	some group, stated in graph_of_root
	some parent in stated
}

_children := {key: found |
	some key in {[root, parent] | some [root, parent, _] in _edges}
	found := {group | some [root, parent, group] in _edges; [root, parent] == key}
}

_longest := {root: max({count(found) | some found in groups}) | some root, groups in ancestors}

# The longest way from `all` to each group. Without recursion: reachability in a graph whose nodes are [root, group, length of the way].
# No way is longer than the largest number of ancestors, so that number bounds the graph.
_steps := {[root, parent, length]: next |
	some [root, parent], groups in _children
	some length in numbers.range(0, _longest[root])
	next := {[root, group, length + 1] | some group in groups}
}

_ways := _starts | {next | some node in graph.reachable(_steps, _starts); some next in _steps[node]}

_starts := {[root, "all", 0] | some root, _ in parents}

depth := {key: max(lengths) |
	some key in {[root, group] | some [root, group, _] in _ways}
	lengths := {length | some [root, group, length] in _ways; [root, group] == key}
}

# `ansible_group_priority` counts in inventory files only (rule 8); the file that is read last wins.
_priority_entries := [[[definition.root, definition.group], definition.rank, priority] |
	some definition in definitions.groups
	priority := definition.body.vars.ansible_group_priority
]

_priorities := {key: stated |
	some key in {key | some [key, _, _] in _priority_entries}
	entries := {[rank, priority] | some [other, rank, priority] in _priority_entries; other == key}
	last := max({rank | some [rank, _] in entries})
	stated := {priority | some [rank, priority] in entries; rank == last}
}

# Where a group stands among its host's groups: they are merged in this order, the last wins. A priority that cannot be known
# puts the group last in its depth, and folder.rego turns all its variables into unknown ones.
order := {[root, group]: [length, _undecided_rank(root, group), _priority(root, group), group] | some [root, group], length in depth}

_number(value) := value if {
	is_number(value)
	value == floor(value)
} else := to_number(value) if {
	is_string(value)
	regex.match(`^-?(0|[1-9][0-9]*)$`, value)
}

_priority(root, group) := priority if {
	stated := _priorities[[root, group]]
	count(stated) == 1
	some value in stated
	priority := _number(value)
} else := 1

undecided := {key | some key, stated in _priorities; not _decided(stated)}

_decided(stated) if {
	count(stated) == 1
	some value in stated
	_number(value)
}

_undecided_rank(root, group) := 1 if {
	[root, group] in undecided
} else := 0

_direct := {key: groups |
	some key in {[mention.root, mention.host] | some mention in definitions.hosts}
	named := {mention.group | some mention in definitions.hosts; [mention.root, mention.host] == key}
	groups := _grouped(named - {"all", "ungrouped"})
}

# [root, groups] → hosts: what groups decide is then merged once for each such set of groups, not for each host.
# Rule 10: `ungrouped` holds exactly the hosts that are in no group but `all`.
hosts_by_groups := {key: hosts |
	some key in {[root, groups] | some [root, _], groups in _direct}
	hosts := {host | some [root, host], groups in _direct; [root, groups] == key}
}

_grouped(groups) := groups if {
	count(groups) > 0
} else := {"ungrouped"}

# The groups of such a set and all their ancestors, in order of precedence, without `all`.
merged_groups(root, direct) := [position[count(position) - 1] |
	some position in sort({order[[root, group]] |
		some member in direct
		some group in ancestors[root][member]
		group != "all"
	})
]
