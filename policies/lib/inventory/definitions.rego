# METADATA
# title: Definitions in inventory files
# description: Every place where a YAML or JSON inventory file defines a group or names hosts.
package headroom.inventory.definitions

import data.headroom.inventory.paths
import data.headroom.inventory.patterns

# At any depth. `parent` is null at the top.
groups := [definition |
	some path, file in paths.inventory_files
	some [parent, group, body] in _groups_in(file.contents)
	definition := {
		"root": file.root,
		"rank": file.rank,
		"path": path,
		"plain": file.plain,
		"parent": parent,
		"group": group,
		"body": body,
	}
]

# [parent, group, body]. Rego has no recursion: four levels are unrolled, deeper ones take walk(), which would be slow over the many hosts
# of the upper levels.
_groups_in(content) := array.concat(array.concat(array.concat(first, second), array.concat(third, fourth)), deeper) if {
	first := [[null, group, body] |
		some group, body in content
		type_name(body) in {"null", "object"}
		not _is_client(body)
	]
	second := _groups_below(first)
	third := _groups_below(second)
	fourth := _groups_below(third)
	deeper := [[parent, group, body] |
		some [_, top, top_body] in fourth
		below := section_of(top_body, "children")
		count(below) > 0
		walk({top: {"children": below}}, [steps, children])
		count(steps) % 2 == 0
		count(steps) > 0
		{step | some index, step in steps; index % 2 == 1} == {"children"}
		parent := steps[count(steps) - 2]
		some group, body in _names(children)
	]
}

_groups_below(level) := [[parent, group, body] |
	some [_, parent, parent_body] in level
	some group, body in section_of(parent_body, "children")
]

# `hosts`, `children` and `vars` may be missing, null or a single name (rule 12).
section_of(body, name) := _names(body[name]) if {
	is_object(body)
} else := {}

# The endpoints of a client, such as Patroni's `etcd3: {hosts: "10.0.0.1:2379,10.0.0.2:2379"}`, are not a host name.
_is_client(body) if {
	object.keys(body) == {"hosts"}
	is_string(body.hosts)
	regex.match(`,|:[0-9]+\s*$`, body.hosts)
}

_names(section) := section if {
	is_object(section)
} else := {section: null} if {
	is_string(section)
} else := {}

# Every place where a file names hosts, with host → variables. A pattern gets a place of its own, since it may repeat a host.
sections := array.concat(
	[section |
		some place in _places
		hosts := object.remove(place.hosts, place.patterns)
		count(hosts) > 0
		section := object.union(_without_hosts(place), {"hosts": hosts, "port": 0})
	],
	[section |
		some place in _places
		some pattern in place.patterns
		_is_expanded(pattern)
		hosts := {host: place.hosts[pattern] | some host in patterns.hosts(pattern)}
		section := object.union(_without_hosts(place), {"hosts": hosts, "port": patterns.address(pattern).port})
	],
)

# How many hosts the patterns of all inventories name, each as often as a pattern names it.
named_by_patterns := sum([patterns.size(pattern) | some place in _places; some pattern in place.patterns; contains(pattern, "[")])

_is_expanded(pattern) if not contains(pattern, "[")

_is_expanded(_) if named_by_patterns <= patterns.most_hosts

_without_hosts(place) := object.remove(place, {"hosts", "patterns"})

_places := [place |
	some definition in groups
	hosts := section_of(definition.body, "hosts")
	count(hosts) > 0
	place := {
		"root": definition.root,
		"rank": definition.rank,
		"path": definition.path,
		"plain": definition.plain,
		"group": definition.group,
		"hosts": hosts,
		"patterns": patterns_in(hosts),
	}
]

# One match over all names first, as inventories rarely have patterns.
patterns_in(hosts) := {name | some name, _ in hosts; regex.match(`[\[:]`, name)} if {
	regex.match(`[\[:]`, concat("\n", object.keys(hosts)))
} else := set()
