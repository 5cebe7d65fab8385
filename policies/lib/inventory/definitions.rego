# METADATA
# title: What the inventory files define
# description: Every group and every host that a YAML or JSON inventory file names, with what is said there.
package headroom.inventory.definitions

import data.headroom.inventory.graph
import data.headroom.inventory.paths
import data.headroom.inventory.patterns

# Every place where a file defines a group, at any depth.
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

# [parent, group, body] of all groups in one file. Rego has no recursion: four levels by hand, whatever lies deeper by walk(),
# which would be slow over all the hosts of the upper levels.
_groups_in(content) := array.concat(array.concat(array.concat(first, second), array.concat(third, fourth)), deeper) if {
	first := [[null, group, body] | some group, body in content; type_name(body) in {"null", "object"}]
	second := _groups_below(first)
	third := _groups_below(second)
	fourth := _groups_below(third)
	deeper := [[parent, group, body] |
		some [_, top, top_body] in fourth
		below := _section(top_body, "children")
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
	some group, body in _section(parent_body, "children")
]

# `hosts`, `children` and `vars` may be missing, null or one name (rule 12).
_section(body, name) := _names(body[name]) if {
	is_object(body)
} else := {}

_names(section) := section if {
	is_object(section)
} else := {section: null} if {
	is_string(section)
} else := {}

# Every place where a file names hosts, with {host: what is said there}. A pattern is a place of its own: it may name the same host again.
sections := array.concat(
	[section |
		some place in _places
		hosts := object.remove(place.hosts, place.patterns)
		count(hosts) > 0
		section := object.union(_without_patterns(place), {"hosts": hosts, "port": 0})
	],
	[section |
		some place in _places
		some pattern in place.patterns
		hosts := {host: place.hosts[pattern] | some host in patterns.hosts(pattern)}
		section := object.union(_without_patterns(place), {"hosts": hosts, "port": patterns.address(pattern).port})
	],
)

_without_patterns(place) := object.remove(place, {"hosts", "patterns"})

_places := [place |
	some definition in groups
	hosts := _section(definition.body, "hosts")
	count(hosts) > 0
	place := {
		"root": definition.root,
		"rank": definition.rank,
		"path": definition.path,
		"plain": definition.plain,
		"group": definition.group,
		"hosts": hosts,
		"patterns": _patterns(hosts),
	}
]

# Looked for in the text of all names first: mostly there are none.
_patterns(hosts) := {name | some name, _ in hosts; regex.match(`[\[:]`, name)} if {
	regex.match(`[\[:]`, concat("\n", object.keys(hosts)))
} else := set()

# What Ansible refuses in a file; it then uses as much of the file as it read before. root → path → why
refused := {root: paths_refused |
	some root in {entry.root | some entry in _refusals}
	paths_refused := {path: problems |
		some path in {entry.path | some entry in _refusals; entry.root == root}
		problems := {entry.problem | some entry in _refusals; entry.root == root; entry.path == path}
	}
}

_refusals := {{"root": definition.root, "path": definition.path, "problem": problem} |
	some definition in groups
	some problem in _problems(definition)
}

_problems(definition) := ((({problem |
	some section, value in object.filter(definition.body, {"hosts", "children", "vars"})
	not is_object(value)
	not value == null
	not is_string(value)
	problem := sprintf("%q of group %q is neither a mapping nor a name", [section, definition.group])
} | {problem |
	some pattern in _patterns(_section(definition.body, "hosts"))
	contains(pattern, "[")
	not patterns.hosts(pattern)
	problem := sprintf("the host pattern %q cannot be resolved", [pattern])
}) | {problem |
	some host, body in _section(definition.body, "hosts")
	not is_object(body)
	not body in {null, false, 0, "", []}
	problem := sprintf("the variables of host %q are no mapping", [host])
}) | {problem |
	not type_name(definition.body) in {"null", "object"}
	problem := sprintf("group %q is no mapping", [definition.group])
}) | {problem |
	[definition.root, definition.group] in graph.cyclic
	problem := sprintf("group %q contains itself", [definition.group])
}
