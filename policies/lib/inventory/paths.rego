# METADATA
# title: The files of each inventory
# description: |
#   Which of the files that conftest hands over belong to which inventory, and which of them Ansible reads as an inventory file, as
#   group variables or as host variables. Rule numbers are those of the inventory plugins' behaviour as docs/inventory.md lists it.
package headroom.inventory.paths

import data.headroom.files
import data.headroom.inventory.values

# One combined run gives a list of {path, contents}; a single document (a run without --combine) is taken as a list of one.
entries := input if {
	is_array(input)
} else := [{"path": "-", "contents": input}]

# All grouping here and beside is of this form: OPA indexes the inner comprehension, which makes it one pass, as long as the key is a
# plain field of a rule's entries and has at least one entry: for a key without any, OPA goes through all of them again. A partial rule
# with two keys (`by_path[path] contains …`) copies what it has at each step, and is evaluated again for each key that is looked up.
_paths := [entry.path | some entry in entries]

_repeated := {path |
	count({path | some path in _paths}) < count(_paths)
	some path, indices in _indices
	count(indices) > 1
}

_indices := {path: indices |
	some path in {path | some path in _paths}
	indices := [index | some index, entry in entries; entry.path == path]
}

# A comment above the first `---` makes conftest deliver the file twice, once as null: the other one is the file (rule 17).
# Two real documents in one file are refused by Ansible, so they are not a file here either.
contents := {entry.path: entry.contents | some entry in entries} if {
	count(_repeated) == 0
} else := object.union(
	{entry.path: entry.contents | some entry in entries; not entry.path in _repeated},
	{path: content |
		some path in _repeated
		real := _real(path)
		count(real) < 2
		content := array.concat(real, [null])[0]
	},
)

several_documents := {path | some path in _repeated; count(_real(path)) > 1}

_real(path) := [entries[index].contents | some index in _indices[path]; entries[index].contents != null]

# The documents that `ansible-inventory --list` printed, whatever file they come from.
listed := {path: content |
	some path, content in contents
	is_object(content._meta.hostvars)
}

# Path → the folder that directly holds it or the group_vars or host_vars around it.
_anchor_of := {path: regex.replace(path, `(^|/)((group_vars|host_vars)/.*|[^/]*)$`, "") | some path in _files}

_files := {path | some path in _paths} - (object.keys(listed) | (files.recognised | waiver_files))

# What is waived is no part of an inventory, wherever it lies. Ansible passes over the hidden one.
waiver_files := {path | some path in _paths; regex.match(`(^|/)\.?waivers\.ya?ml$`, path)} if {
	contains(concat("\n", _paths), "waivers.")
} else := set()

# conftest does not say which folder it was given. An inventory is the topmost folder that directly holds an inventory file,
# group_vars or host_vars; so production/ and staging/ below one folder stay apart, unless that folder holds such files itself.
_anchors := {anchor |
	some path in (_files - several_documents)
	not regex.match(_hidden_file, path)
	anchor := _anchor_of[path]
}

_hidden_file := sprintf(`(^|/)\.[^/]*$|%s$`, [_ignored_ending])

# A folder → the inventory that it belongs to, as a user writes it.
_root_of := {anchor: _root_name(root) |
	some anchor in {anchor | some anchor in _anchor_of}
	root := [above | some above in _folders_above(anchor); above in _anchors][0]
}

# From the top, the folder itself last.
_folders_above(folder) := [concat("/", array.slice(parts, 0, length)) | some length in numbers.range(0, count(parts))] if {
	folder != ""
	parts := split(folder, "/")
} else := [""]

_root_name("") := "."

_root_name(root) := root if root != ""

roots := {root | some root in _root_of}

# path → {root, rest}: the inventory that a file belongs to, and where it lies in there.
_placed := {path: {"root": root, "rest": trim_prefix(path, concat("", [root, "/"]))} |
	some path, anchor in _anchor_of
	root := _root_of[anchor]
}

# Rule 1: what Ansible passes over when it looks for inventory files.
_ignored_ending := `(\.(orig|bak|cfg|retry|txt|md|rst|rpm|swp|pyc|pyo)|~)`

_ignored := sprintf(`(^|/)(\.[^/]*|group_vars|host_vars|vars_plugins|[^/]*%s)(/|$)`, [_ignored_ending])

_inventory_paths := {path |
	some path in (object.keys(_placed) - _vars_paths)
	not regex.match(_ignored, _placed[path].rest)
}

# Endings that Ansible's YAML reader accepts, in lower case only.
yaml_ending(path) if regex.match(`\.(yml|yaml|json)$`, path)

# The inventory files that can be resolved here, each with its rank in Ansible's reading order: the last word counts.
inventory_files := {path: {"root": _placed[path].root, "rank": rank, "contents": contents[path], "plain": plain(path)} |
	ordered := sort([[place.root, split(place.rest, "/"), path] |
		some path in _inventory_paths
		place := _placed[path]
		_readable(path)
	])
	some rank, [_, _, path] in ordered
}

# Whether nothing in a file looks as if it could differ from what Ansible sees.
plain(path) if {
	values.plain(contents[path])
} else := false

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

# Rule 5: group_vars and host_vars directly below the inventory.
_vars_paths := {path |
	some path, place in _placed
	regex.match(`^(group_vars|host_vars)/`, place.rest)
}

_vars_entries := [{"key": [place.root, parts[0], parts[1]], "rest": array.slice(parts, 2, count(parts)), "path": path} |
	some path in _vars_paths
	place := _placed[path]
	parts := split(place.rest, "/")
]

# [root, group_vars or host_vars, first component below] → files
_vars_tree := {key: files |
	some key in {entry.key | some entry in _vars_entries}
	files := [entry | some entry in _vars_entries; entry.key == key]
}

_all_single if {
	count(_single_entries) == count(_vars_paths)
	count({key | some entry in _single_entries; some key in [entry.key, entry.own]}) == 2 * count(_vars_paths)
}

# A file is found by its whole name too.
_single_entries := [{"key": [place.root, kind, name], "own": [place.root, kind, file], "path": path} |
	some path in _vars_paths
	place := _placed[path]
	[_, kind, file, name] := regex.find_all_string_submatch_n(`^(group_vars|host_vars)/(([^./][^/]*)\.(?:yml|yaml|json))$`, place.rest, 1)[0]
]

# [root, kind, NAME] → the first that exists of NAME.yml, NAME.yaml and NAME.json.
_with_ending := {key: min(found)[1] |
	some key in {entry.key | some entry in _named}
	found := {entry.choice | some entry in _named; entry.key == key}
}

_endings := {".yml": 0, ".yaml": 1, ".json": 2}

_named := [{"key": [root, kind, trim_suffix(component, ending)], "choice": [_endings[ending], key]} |
	some key, _ in _vars_tree
	[root, kind, component] := key
	ending := regex.find_n(`\.(yml|yaml|json)$`, component, 1)[0]
]

# Rules 3 and 4: [root, group_vars or host_vars, NAME] → the files with its variables, in Ansible's order. NAME itself, a folder or a file
# without an ending, comes before the others, and only one of them counts. Mostly each name has one file with an ending, right below
# group_vars or host_vars, which then is found without a look at all others.
vars_files := object.union_n([{entry.key: [entry.path], entry.own: [entry.path]} | some entry in _single_entries]) if {
	_all_single
} else := object.union(
	{key: _in_order(_vars_tree[named]) | some key, named in _with_ending},
	{key: _in_order(entries_below) | some key, entries_below in _vars_tree},
)

# The names that may have variables in an inventory: looked up before anything else, as most hosts have none.
vars_names := object.keys(vars_files)

# Nothing below NAME: it is the file itself, whatever its ending.
_in_order(entries_below) := [entries_below[0].path] if {
	count(entries_below) == 1
	count(entries_below[0].rest) == 0
} else := [path | some [_, path] in sort([[entry.rest, entry.path] | some entry in entries_below; _vars_file(entry.rest)])]

_vars_file(rest) if {
	every part in rest {
		not startswith(part, ".")
		not endswith(part, "~")
	}
	every part in array.slice(rest, 0, count(rest) - 1) { not contains(part, ".") }
	yaml_ending(rest[count(rest) - 1])
}

# What cannot be seen from here, by inventory: path → why. Each is a note to the user, never silence.
opaque := {root: reasons |
	some root in {entry.root | some entry in _opaque_entries}
	reasons := {entry.path: entry.reason | some entry in _opaque_entries; entry.root == root}
}

_opaque_entries := {{"root": _placed[path].root, "path": path, "reason": reason} |
	some path in ((_inventory_paths | _vars_paths) - _plain_files)
	reason := _opaque(path, object.get(contents, path, null), path in _inventory_paths, path in several_documents)
}

# Most files: a mapping in YAML or JSON.
_plain_files := {path |
	some path, content in contents
	is_object(content)
	yaml_ending(path)
	not content.plugin
}

_opaque(path, content, of_inventory, several) := "several documents in one file, which Ansible refuses" if {
	several
} else := "a dynamic inventory" if {
	of_inventory
	dynamic(content)
} else := "encrypted as a whole" if {
	_vaulted(content)
} else := "not an inventory in YAML or JSON" if {
	of_inventory
	not yaml_ending(path)
	content != null
} else := "not a mapping, which Ansible refuses" if {
	yaml_ending(path)
	content != null
	not is_object(content)
}

_vaulted(content) if {
	is_string(content)
	startswith(content, "$ANSIBLE_VAULT")
}
