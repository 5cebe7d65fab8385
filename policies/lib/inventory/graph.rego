# METADATA
# title: Groups and who is in them
# description: |
#   The graph of groups of each inventory, its order of precedence (rule 7), and the groups of each host. A key is [inventory, group].
package headroom.inventory.graph

import data.headroom.inventory.closure
import data.headroom.inventory.definitions

_stated := {[definition.root, definition.group] | some definition in definitions.groups}

# All keys: `all` and `ungrouped` are in every inventory.
keys := _stated | {[root, group] |
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

_stated_parents := {key: found |
	some key in {entry.key | some entry in _parent_entries}
	found := {entry.parent | some entry in _parent_entries; entry.key == key}
}

# Rule 9: what has no parent hangs from `all`, and `ungrouped` always does.
parents := {key: (stated | above) |
	some key in keys
	stated := object.get(_stated_parents, [key], set())
	above := {[key[0], "all"] | _hangs_from_all(key[1], stated)}
}

_hangs_from_all("ungrouped", _)

_hangs_from_all(group, set()) if group != "all"

# Every group's ancestors, itself among them.
ancestors := closure.above(parents)

_several_parents := {key | some key, stated in parents; count(stated) > 1}

# Groups that contain themselves, which Ansible refuses.
cyclic := {key |
	some key, stated in parents
	some parent in stated
	key in ancestors[parent]
}

# The longest way from `all` to each group: above most groups there is only one way.
depth := object.union_n([
	{key: length | some key, above in ancestors; not key in _branching; length := count(above) - 1},
	{key: length | some key in _entangled; length := count(ancestors[key])},
	{key: length | some key, lengths in _longest; length := lengths[[key[0], "all"]]},
])

_branching := {key |
	count(_several_parents) > 0
	some key, above in ancestors
	count(above & _several_parents) > 0
}

# Where no real inventory comes: the place of these groups among the others is not looked for.
_most_ancestors := 50

_entangled := {key | some key in _branching; count(ancestors[key]) > _most_ancestors}

# Group → ancestor → the longest way between them, for groups above which the ways part, and all above them.
_longest := _longer(_longer(_longer(_longer(_longer(_longer(shortest)))))) if {
	measured := union({ancestors[key] | some key in (_branching - _entangled)})
	shortest := {key: object.union({key: 0}, {parent: 1 | some parent in parents[key]}) | some key in measured}
}

# Of two ways of some length each, one of up to twice that length.
_longer(ways) := {key: longer |
	some key, lengths in ways
	longer := {other: max(sums) |
		some other in ancestors[key]
		sums := {sum |
			some between, length in lengths
			sum := length + ways[between][other]
		}
		count(sums) > 0
	}
}

# `ansible_group_priority` counts in inventory files only (rule 8); the file that is read last wins.
_priority_entries := [{"key": [definition.root, definition.group], "rank": definition.rank, "priority": priority} |
	some definition in definitions.groups
	priority := definition.body.vars.ansible_group_priority
]

_priorities := {key: stated |
	some key in {entry.key | some entry in _priority_entries}
	entries := [entry | some entry in _priority_entries; entry.key == key]
	last := max({entry.rank | some entry in entries})
	stated := {entry.priority | some entry in entries; entry.rank == last}
}

# Where a group stands among its host's groups: they are merged in this order, the last wins. A group whose place cannot be known
# is the last in its depth, and folder.rego turns all its variables into unknown ones.
order := {key: [length, undecided_rank, object.get(_priority, [key], 1), key[1]] |
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
	some key, stated in _priorities
	count(stated) == 1
	some value in stated
}

# Group → why its place among the others is not known.
undecided := object.union(
	{key: "the priority of a group is given twice in one file" | some key, _ in _priorities; not _priority[key]},
	{key: sprintf("a group with more than %d others above it", [_most_ancestors]) | some key in _entangled},
)

_section_entries := [{"key": [section.root, section.group], "hosts": object.keys(section.hosts)} | some section in definitions.sections]

# The hosts that are named right below each group.
_named := {key: union(found) |
	some key in {entry.key | some entry in _section_entries}
	found := {entry.hosts | some entry in _section_entries; entry.key == key}
}

hosts := {root: union(sets) |
	some root, _ in names
	sets := {found | some [other, _], found in _named; other == root}
}

# The same without `all` and `ungrouped`, which say nothing of a host that is in another group as well.
_direct := {key: found | some key, found in _named; not key[1] in {"all", "ungrouped"}}

_grouped := {root: union(sets) |
	some root, _ in names
	sets := {found | some [other, _], found in _direct; other == root}
}

# Rule 10: `ungrouped` holds exactly the hosts that are in no group but `all`.
_alone := {root: rest | some root, found in hosts; rest := found - _grouped[root]}

# [inventory, groups] → hosts that are named right below the same groups: what groups decide is merged once for each such set of groups,
# not for each host.
classes := object.union(
	_classes,
	{[root, {"ungrouped"}]: found | some root, found in _alone; count(found) > 0},
)

# Mostly no host is named below two groups, and then none need be looked at.
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

# root → group → all hosts that are in it, at any depth.
members := object.union_n([{root: {group: found}} |
	some key in keys
	[root, group] := key
	found := _members(key)
])

_members([root, "all"]) := hosts[root]

_members(key) := object.get(_below, [key], set()) | object.get(_direct_or_alone, [key], set()) if {
	key[1] != "all"
}

_direct_or_alone := object.union(_direct, {[root, "ungrouped"]: found | some root, found in _alone})

# What groups have of the groups below them.
_below := {key: union(found) |
	some key in {entry.key | some entry in _below_entries}
	found := {entry.hosts | some entry in _below_entries; entry.key == key}
}

_below_entries := [{"key": above, "hosts": found} |
	some key, found in _direct_or_alone
	some above in (ancestors[key] - {key, [key[0], "all"]})
]

# The groups of such a set and all their ancestors, in order of precedence, without `all`.
merged_groups(root, direct) := [position[count(position) - 1] |
	some position in sort({order[key] |
		some member in direct
		some key in ancestors[[root, member]]
		key[1] != "all"
	})
]
