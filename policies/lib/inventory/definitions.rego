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
	definition := {"root": file.root, "rank": file.rank, "path": path, "parent": parent, "group": group, "body": body}
]

# [parent, group, body] of all groups in one file. Rego has no recursion: four levels by hand, whatever lies deeper by walk(),
# which would be slow over all the hosts of the upper levels.
_groups_in(content) := array.concat(array.concat(array.concat(first, second), array.concat(third, fourth)), deeper) if {
	first := [[null, group, body] | some group, body in content; _mapping_or_null(body)]
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
		every index, step in steps { _expected_step(index, step) }
		parent := steps[count(steps) - 2]
		some group, body in _names(children)
	]
}

_expected_step(index, step) if {
	index % 2 == 1
	step == "children"
}

_expected_step(index, _) if index % 2 == 0

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

_mapping_or_null(null)

_mapping_or_null(body) if is_object(body)

_variables(body) := body if {
	is_object(body)
} else := {}

# Every place where a file names a host: one entry for each host of a pattern.
hosts := [mention |
	some definition in groups
	some pattern, body in _section(definition.body, "hosts")
	port := _port(pattern)
	some host in patterns.hosts(pattern)
	mention := {
		"root": definition.root,
		"rank": definition.rank,
		"path": definition.path,
		"group": definition.group,
		"host": host,
		"port": port,
		"variables": _variables(body),
	}
]

_port(pattern) := patterns.address(pattern).port if {
	contains(pattern, ":")
} else := 0

# What Ansible refuses in a file; it then uses as much of the file as it read before. root → path → why
refused[definition.root][definition.path] contains problem if {
	some definition in groups
	some problem in _problems(definition)
}

_problems(definition) := ((({problem |
	some section in ["hosts", "children", "vars"]
	value := definition.body[section]
	not _mapping_or_null(value)
	not is_string(value)
	problem := sprintf("%q of group %q is neither a mapping nor a name", [section, definition.group])
} | {problem |
	some pattern, _ in _section(definition.body, "hosts")
	contains(pattern, "[")
	not patterns.hosts(pattern)
	problem := sprintf("the host pattern %q cannot be resolved", [pattern])
}) | {problem |
	some pattern, body in _section(definition.body, "hosts")
	not is_object(body)
	not _falsy(body)
	problem := sprintf("the variables of host %q are no mapping", [pattern])
}) | {problem |
	not _mapping_or_null(definition.body)
	problem := sprintf("group %q is no mapping", [definition.group])
}) | {problem |
	[definition.root, definition.group] in graph.cyclic
	problem := sprintf("group %q contains itself", [definition.group])
}

_falsy(body) if body in {null, false, 0, ""}

_falsy([])
