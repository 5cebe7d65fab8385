# METADATA
# title: Inventory files that Ansible refuses
# description: Ansible then uses what it read before the problem, so the rest of the library does not stop at it.
package headroom.inventory.refusals

import data.headroom.inventory.definitions
import data.headroom.inventory.graph
import data.headroom.inventory.patterns
import data.headroom.units

# root → path → problems.
by_inventory := {root: by_path |
	some root in {entry.root | some entry in _refusals}
	by_path := {path: problems |
		some path in {entry.path | some entry in _refusals; entry.root == root}
		problems := {entry.problem | some entry in _refusals; entry.root == root; entry.path == path}
	}
}

_refusals := {{"root": definition.root, "path": definition.path, "problem": problem} |
	some definition in definitions.groups
	some problem in _problems(definition)
}

_problems(definition) := (((({problem |
	some section, value in object.filter(definition.body, {"hosts", "children", "vars"})
	not is_object(value)
	not value == null
	not is_string(value)
	problem := sprintf("%q of group %q is neither a mapping nor a name", [section, definition.group])
} | {problem |
	some pattern in definitions.patterns_in(definitions.section_of(definition.body, "hosts"))
	contains(pattern, "[")
	not patterns.size(pattern)
	problem := sprintf("the host pattern %q cannot be resolved", [pattern])
}) | {problem |
	definitions.named_by_patterns > patterns.most_hosts
	some pattern in definitions.patterns_in(definitions.section_of(definition.body, "hosts"))
	contains(pattern, "[")
	problem := sprintf(
		"the host patterns of this run name %s hosts, more than %s: none of them is resolved. Name fewer hosts, or lint fewer inventories at a time",
		[units.format_count(definitions.named_by_patterns), units.format_count(patterns.most_hosts)],
	)
}) | {problem |
	some host, body in definitions.section_of(definition.body, "hosts")
	not is_object(body)
	not body in {null, false, 0, "", []}
	problem := sprintf("the variables of host %q are not a mapping", [host])
}) | {problem |
	not type_name(definition.body) in {"null", "object"}
	problem := sprintf("group %q is not a mapping", [definition.group])
}) | {problem |
	[definition.root, definition.group] in graph.cyclic
	problem := sprintf("group %q contains itself", [definition.group])
}
