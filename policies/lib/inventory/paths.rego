# METADATA
# title: The files of each inventory
# description: |
#   Which of the files that conftest hands over belong to which inventory, and which of them Ansible reads as an inventory file, as
#   group variables or as host variables. Rule numbers are those of the inventory plugins' behaviour as docs/policies.md lists it.
package headroom.inventory.paths

import data.headroom.files

# One combined run gives a list of {path, contents}; a single document (a run without --combine) is taken as a list of one.
entries := input if {
	is_array(input)
} else := [{"path": "-", "contents": input}]

# All grouping here and beside is of this form: OPA indexes the inner comprehension, which makes it one pass. A partial rule with
# two keys (`by_path[path] contains …`) copies what it has at each step, and is evaluated again for each key that is looked up.
_indices := {path: indices |
	some path in {entry.path | some entry in entries}
	indices := {index | some index, entry in entries; entry.path == path}
}

# A comment above the first `---` makes conftest deliver the file twice, once as null: the other one is the file (rule 17).
# Two real documents in one file are refused by Ansible, so they are not a file here either.
contents := {path: content |
	some path, indices in _indices
	real := [index | some index in indices; entries[index].contents != null]
	count(real) < 2
	content := _first(real)
}

several_documents := {path |
	some path, indices in _indices
	count([index | some index in indices; entries[index].contents != null]) > 1
}

_first(indices) := entries[indices[0]].contents if {
	count(indices) > 0
} else := null

# The documents that `ansible-inventory --list` printed, whatever file they come from.
listed := {path: content |
	some path, content in contents
	is_object(content._meta.hostvars)
}

_parts := {path: split(path, "/") |
	some path, _ in _indices
	not listed[path]
	not path in files.recognised
}

# conftest does not say which folder it was given. An inventory is the topmost folder that directly holds an inventory file,
# group_vars or host_vars; so production/ and staging/ below one folder stay apart, unless that folder holds such files itself.
_anchors := {_anchor(parts) |
	some path, parts in _parts
	not path in several_documents
	not _hidden_name(parts[count(parts) - 1])
}

_anchor(parts) := array.slice(parts, 0, min(positions)) if {
	positions := {i | some i, part in parts; part in {"group_vars", "host_vars"}}
	count(positions) > 0
} else := array.slice(parts, 0, count(parts) - 1)

_hidden_name(name) if startswith(name, ".")

_hidden_name(name) if _ignored_ending(name)

_roots := {anchor | some anchor in _anchors; not _below_another(anchor)}

roots := {_root_name(root) | some root in _roots}

_below_another(anchor) if {
	some length, _ in anchor
	array.slice(anchor, 0, length) in _anchors
}

# The name of a root as a user writes it.
_root_name(root) := name if {
	name := concat("/", root)
	name != ""
} else := "."

# path → {root, parts}: the inventory that a file belongs to, and where it lies in there.
_placed := {path: {"root": _root_name(root), "parts": array.slice(parts, length, count(parts))} |
	some path, parts in _parts
	some length, _ in parts
	root := array.slice(parts, 0, length)
	root in _roots
}

# Rule 1: what Ansible passes over when it looks for inventory files.
_ignored_component(part) if startswith(part, ".")

_ignored_component(part) if part in {"group_vars", "host_vars", "vars_plugins"}

_ignored_component(part) if _ignored_ending(part)

_ignored_ending(part) if {
	some ending in [".orig", ".bak", ".cfg", ".retry", ".txt", ".md", ".rst", ".rpm", ".swp", ".pyc", ".pyo", "~"]
	endswith(part, ending)
}

_inventory_paths := {path |
	some path, place in _placed
	every part in place.parts { not _ignored_component(part) }
}

# Endings that Ansible's YAML reader accepts, in lower case only.
yaml_ending(path) if {
	some ending in [".yml", ".yaml", ".json"]
	endswith(path, ending)
}

# The inventory files that can be resolved here, each with its rank in Ansible's reading order: the last word counts.
inventory_files := {path: {"root": _placed[path].root, "rank": rank, "contents": contents[path]} |
	ordered := sort([[place.root, place.parts, path] |
		some path in _inventory_paths
		place := _placed[path]
		_readable(path)
	])
	some rank, [_, _, path] in ordered
}

_readable(path) if {
	yaml_ending(path)
	is_object(contents[path])
	not dynamic(contents[path])
}

# A file with `plugin:` on top configures a dynamic inventory: its hosts exist only while Ansible runs.
dynamic(content) if {
	plugin := content.plugin
	not plugin in [null, false, "", 0]
}

_vars_entries := [{"key": [place.root, place.parts[0], place.parts[1]], "rest": rest, "path": path} |
	some path, place in _placed
	count(place.parts) > 1
	place.parts[0] in {"group_vars", "host_vars"}
	rest := array.slice(place.parts, 2, count(place.parts))
]

# [root, group_vars or host_vars, first component below] → files
_vars_tree := {key: files |
	some key in {entry.key | some entry in _vars_entries}
	files := {[entry.rest, entry.path] | some entry in _vars_entries; entry.key == key}
}

# The names that may have variables in an inventory: looked up before anything is sorted, as most hosts have none.
vars_names := {key: names |
	some key in {[root, kind] | some [root, kind, _], _ in _vars_tree}
	entries := {name | some [root, kind, name], _ in _vars_tree; [root, kind] == key}
	names := entries | {trim_suffix(entry, ending) | some entry in entries; some ending in [".yml", ".yaml", ".json"]}
}

# Rules 3 and 4: the files with the variables of NAME, in Ansible's order; undefined where there are none. Only the first of NAME, NAME.yml, NAME.yaml and NAME.json counts.
vars_files(root, kind, name) := [path | some [_, path] in sort([file | some file in found[0]; _vars_file(file[0])])] if {
	found := [_vars_tree[key] |
		some ending in ["", ".yml", ".yaml", ".json"]
		key := [root, kind, concat("", [name, ending])]
		_vars_tree[key]
	]
	count(found) > 0
}

# Nothing below NAME: it is the file itself, whatever its ending.
_vars_file([])

_vars_file(rest) if {
	every part in rest {
		not startswith(part, ".")
		not endswith(part, "~")
	}
	every part in array.slice(rest, 0, count(rest) - 1) { not contains(part, ".") }
	yaml_ending(rest[count(rest) - 1])
}

_vars_paths := {path |
	some path, place in _placed
	count(place.parts) > 1
	place.parts[0] in {"group_vars", "host_vars"}
	yaml_ending(path)
}

# What cannot be seen from here, by inventory: path → why. Each is a note to the user, never silence.
opaque[_placed[path].root][path] := reason if {
	some path in (_inventory_paths | _vars_paths)
	reason := _opaque(path, object.get(contents, path, null))
}

_opaque(path, _) := "several documents in one file, which Ansible refuses" if path in several_documents

_opaque(path, content) := "a dynamic inventory" if {
	path in _inventory_paths
	dynamic(content)
}

_opaque(_, content) := "encrypted as a whole" if _vaulted(content)

_opaque(path, content) := "not an inventory in YAML or JSON" if {
	path in _inventory_paths
	not yaml_ending(path)
	content != null
}

_opaque(path, content) := "not a mapping, which Ansible refuses" if {
	yaml_ending(path)
	content != null
	not is_object(content)
	not _vaulted(content)
}

_vaulted(content) if {
	is_string(content)
	startswith(content, "$ANSIBLE_VAULT")
}
