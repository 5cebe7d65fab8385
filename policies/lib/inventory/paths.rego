# METADATA
# title: The files of each inventory
# description: Which file belongs to which inventory, and whether Ansible reads it as an inventory file, group variables or host variables.
package headroom.inventory.paths

import data.headroom.files
import data.headroom.formats
import data.headroom.inventory.values

# Path → the folder that contains it, or that contains its group_vars or host_vars.
_anchor_of := {path: regex.replace(path, `(^|/)((group_vars|host_vars)/.*|[^/]*)$`, "") | some path in _files}

_files := {path | some path in files.paths} - (((object.keys(files.listed) | (formats.paths | files.waiver_files)) | formats.others) | _lists)

# Lists such as playbooks: conftest splits them into documents. Files of variables and those with groups are reported.
_lists := {path |
	some path in (files.several_documents | {path | some path, content in files.contents; is_array(content)})
	not regex.match(`(^|/)(group_vars|host_vars)/`, path)
	not _has_groups(path)
}

_has_groups(path) if {
	some entry in files.entries
	entry.path == path
	some body in entry.contents
	count(object.keys(body) & {"hosts", "children", "vars"}) > 0
}

# Two inventories in one file, which Ansible refuses. They have nothing but groups, and a key about etcd.
concatenated := {path |
	some path in (files.several_documents - _lists)
	every document in _documents(path) {
		every body in document { is_group(body) }
	}
	some document in _documents(path)
	walk(document, [keys, _])
	some key in keys
	startswith(lower(key), "etcd")
}

_documents(path) := [entry.contents | some entry in files.entries; entry.path == path; entry.contents != null]

# Whether a mapping is a group, and not other content of a YAML file.
is_group(null)

is_group(body) if count(object.keys(body) - {"hosts", "children", "vars"}) == 0

# conftest does not tell policies which folder it was given. An inventory is the topmost folder that directly contains an inventory file,
# group_vars or host_vars, so production/ and staging/ are two inventories unless their parent contains such files itself.
_anchors := {anchor |
	some path in (_files - (files.several_documents - concatenated))
	not regex.match(_hidden_file, path)
	anchor := _anchor_of[path]
}

_hidden_file := sprintf(`(^|/)\.[^/]*$|%s$`, [_ignored_ending])

# Folder → its inventory, as a user writes it.
_root_of := {anchor: _root_name(root) |
	some anchor in {anchor | some anchor in _anchor_of}
	root := [above | some above in _folders_above(anchor); above in _anchors][0]
}

# Topmost first, the folder itself last.
_folders_above(folder) := [concat("/", array.slice(parts, 0, length)) | some length in numbers.range(0, count(parts))] if {
	folder != ""
	parts := split(folder, "/")
} else := [""]

_root_name("") := "."

_root_name(root) := root if root != ""

roots := {root | some root in _root_of}

# path → {root, rest}: its inventory and its path within it.
_placed := {path: {"root": root, "rest": trim_prefix(path, concat("", [root, "/"]))} |
	some path, anchor in _anchor_of
	root := _root_of[anchor]
}

# Rule 1: endings that Ansible ignores.
_ignored_ending := `(\.(orig|bak|cfg|retry|txt|md|rst|rpm|swp|pyc|pyo)|~)`

_ignored := sprintf(`(^|/)(\.[^/]*|group_vars|host_vars|vars_plugins|[^/]*%s)(/|$)`, [_ignored_ending])

_inventory_paths := {path |
	some path in (object.keys(_placed) - _vars_paths)
	not regex.match(_ignored, _placed[path].rest)
	_may_be_inventory(path)
}

# headroom-lint translates inventories of other forms. What else it passes has another purpose, such as a state of Salt with an id called etcd.
_may_be_inventory(_) if not files.reader.files

_may_be_inventory(path) if _has_yaml_ending(path)

# Ansible's YAML plugin accepts these in lower case only. headroom-lint translates inventories of other formats.
_has_yaml_ending(path) if regex.match(`\.(yml|yaml|json)$`, path)

_has_yaml_ending(path) if files.reader.translated[path]

# The inventory files that can be resolved, each with its rank in the order in which Ansible reads them.
inventory_files := {path: {"root": _placed[path].root, "rank": rank, "contents": files.contents[path], "plain": is_plain(path)} |
	ordered := sort([[place.root, split(place.rest, "/"), path] |
		some path in _inventory_paths
		place := _placed[path]
		_is_readable(path)
	])
	some rank, [_, _, path] in ordered
}

is_plain(path) if {
	values.is_plain(files.contents[path])
} else := false

_is_readable(path) if {
	_has_yaml_ending(path)
	is_object(files.contents[path])
	not _is_dynamic(files.contents[path])
}

# `plugin:` at the top configures a dynamic inventory, whose hosts only Ansible can list.
_is_dynamic(content) if {
	plugin := content.plugin
	not plugin in [null, false, "", 0]
}

# Rule 5.
_vars_paths := {path |
	some path, place in _placed
	regex.match(`^(group_vars|host_vars)/`, place.rest)
}

_vars_entries := [{"key": [place.root, parts[0], parts[1]], "rest": array.slice(parts, 2, count(parts)), "path": path} |
	some path in _vars_paths
	place := _placed[path]
	parts := split(place.rest, "/")
]

# [root, group_vars or host_vars, first component below] → files.
_vars_tree := {key: files |
	some key in {entry.key | some entry in _vars_entries}
	files := [entry | some entry in _vars_entries; entry.key == key]
}

_all_single if {
	count(_single_entries) == count(_vars_paths)
	count({key | some entry in _single_entries; some key in [entry.key, entry.own]}) == 2 * count(_vars_paths)
}

# A name with a dot, such as `n1.yml`, may itself be the name of a host.
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
# without an ending, takes precedence over NAME.yml and the like. The first branch is a shortcut for inventories with one file a name.
vars_files := object.union_n([{entry.key: [entry.path], entry.own: [entry.path]} | some entry in _single_entries]) if {
	_all_single
} else := object.union(
	{key: _in_order(_vars_tree[named]) | some key, named in _with_ending},
	{key: _in_order(entries_below) | some key, entries_below in _vars_tree},
)

# Checked before anything else, as most hosts have no variables of their own.
vars_names := object.keys(vars_files)

# Nothing below NAME: it is the file itself, whatever its ending.
_in_order(entries_below) := [entries_below[0].path] if {
	count(entries_below) == 1
	count(entries_below[0].rest) == 0
} else := [path | some [_, path] in sort([[entry.rest, entry.path] | some entry in entries_below; _is_vars_file(entry.rest)])]

_is_vars_file(rest) if {
	every part in rest {
		not startswith(part, ".")
		not endswith(part, "~")
	}
	every part in array.slice(rest, 0, count(rest) - 1) { not contains(part, ".") }
	_may_be_vars(rest[count(rest) - 1])
}

_may_be_vars(name) if _has_yaml_ending(name)

# Only headroom-lint passes these.
_may_be_vars(name) if not contains(name, ".")

# Inventory → path → why a file's contents are unknown. Rules report each of them.
opaque := {root: reasons |
	some root in {entry.root | some entry in _opaque_entries}
	reasons := {entry.path: entry.reason | some entry in _opaque_entries; entry.root == root}
}

_opaque_entries := {{"root": _placed[path].root, "path": path, "reason": reason} |
	some path in ((_inventory_paths | _vars_paths) - _ordinary_files)
	reason := _why_opaque(path, object.get(files.contents, path, null), path in _inventory_paths, path in files.several_documents)
}

# Most files are mappings in YAML or JSON.
_ordinary_files := {path |
	some path, content in files.contents
	is_object(content)
	_has_yaml_ending(path)
	not content.plugin
}

_why_opaque(path, content, of_inventory, several) := "a list or several documents, which Ansible refuses" if {
	several
} else := "a dynamic inventory" if {
	of_inventory
	_is_dynamic(content)
} else := "encrypted as a whole" if {
	_is_vaulted(content)
} else := "not an inventory in YAML or JSON" if {
	of_inventory
	not _has_yaml_ending(path)
	content != null
} else := "not a mapping, which Ansible refuses" if {
	_has_yaml_ending(path)
	content != null
	not is_object(content)
}

_is_vaulted(content) if {
	is_string(content)
	startswith(content, "$ANSIBLE_VAULT")
}
