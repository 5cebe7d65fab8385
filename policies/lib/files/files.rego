# METADATA
# title: Files as conftest passes them
# description: |
#   The input as one content for each path, whatever the mode of the run. Rule numbers, here and in other packages, refer to the table of
#   Ansible's behaviour in docs/inventory.md.
package headroom.files

# With --combine the input is a list of {path, contents}; without it, a single document. headroom-lint passes one document with its own list, which
# plugins/plugin_utils/_conftest/document.py describes.
entries := reader.files if {
	reader.files
} else := input if {
	is_array(input)
} else := [{"path": "-", "contents": input}]

reader := input[0].contents.headroom_lint if {
	is_object(input[0].contents.headroom_lint)
} else := {}

paths := [entry.path | some entry in entries]

# The folder of a file, with a slash at its end; empty for a file in the working directory.
folder(path) := regex.replace(path, `[^/]*$`, "")

# A template may have conditions. The reader's names of templates are in plugins/plugin_utils/_reader/recognize.py.
is_template(path) if regex.match(`\.(j2|jinja2?|erb|ejs|tmpl|tpl|gotmpl)$`, path)

# The variables that a text of the files expands, such as ETCD_PORT in http://10.0.0.1:${ETCD_PORT}. headroom-lint has resolved those of
# scripts, and lists them.
expanded contains name if some name in object.get(reader, "expanded", [])

expanded contains name if {
	some entry in entries
	walk(entry.contents, [path, value])
	is_string(value)
	some [_, name] in regex.find_all_string_submatch_n(`\$[({]?(ETCD_\w+)`, value, -1)
	regex.match(sprintf(`\$[({]?%s\b`, [name]), _without_assignment(value, name))

	# A variable that gets its own value, or a default, as in NAME: ${NAME:-default}.
	array.slice(path, count(path) - 1, count(path)) != [name]
}

_without_assignment(value, name) := strings.replace_n({sprintf("%s=%s%s", [name, before, name]): "" | some before in ["$", "${", `"$`, `"${`]}, value)

# All grouping in this library has the form of _indices. "Pitfalls of Rego" in docs/policies/adding.md says why.
_repeated := {path |
	count({path | some path in paths}) < count(paths)
	some path, indices in _indices
	count(indices) > 1
}

_indices := {path: indices |
	some path in {path | some path in paths}
	indices := [index | some index, entry in entries; entry.path == path]
}

# A comment above the first `---` makes conftest pass a file twice, once as null (rule 17). Files with two real documents have no content
# here, because Ansible refuses them.
contents := {entry.path: entry.contents | some entry in entries} if {
	count(_repeated) == 0
} else := object.union(
	{entry.path: entry.contents | some entry in entries; not entry.path in _repeated},
	{path: content |
		some path in _repeated
		documents := _documents(path)
		count(documents) < 2
		content := array.concat(documents, [null])[0]
	},
)

several_documents := {path | some path in _repeated; count(_documents(path)) > 1}

_documents(path) := [entries[index].contents | some index in _indices[path]; entries[index].contents != null]

# Path → output of `ansible-inventory --list`, recognized by its content.
listed := {path: content |
	some path, content in contents
	is_object(content._meta.hostvars)
}

# Ansible skips the hidden name, so such a file may lie inside an inventory.
waiver_files := {path | some path in paths; regex.match(`(^|/)\.?waivers\.ya?ml$`, path)} if {
	contains(concat("\n", paths), "waivers.")
} else := set()
