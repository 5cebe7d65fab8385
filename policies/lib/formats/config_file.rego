# METADATA
# title: etcd's config file
# description: Detected by keys that hardly any other file has.
package headroom.formats.config_file

import data.headroom.formats.statement_builder
import data.headroom.model
import data.headroom.text

_keys := {key | some release in model.series; some key, _ in release.config_keys}

# Dashes rule out Ansible variables, and nobody names groups like this.
_distinctive := {
	"advertise-client-urls",
	"auto-compaction-retention",
	"client-transport-security",
	"initial-advertise-peer-urls",
	"initial-cluster",
	"listen-client-urls",
	"listen-peer-urls",
	"quota-backend-bytes",
	"snapshot-count",
}

is_format_of(document) if {
	count(object.keys(document) & _distinctive) > 1
	not document.all
}

# A short config file.
is_format_of(document) if {
	count(object.keys(document) & _distinctive) == 1
	document["data-dir"]
	not document.all
}

# The file's only member → its statement. A config file does not name a release, but a script around it may download one.
statements(document) := {_name(document): statement_builder.build("config file", object.union(
	{"given": given(document), "unknown": {}},
	_release(document),
))}

_release(document) := {"version": document.headroom_release} if {
	document.headroom_release
} else := {}

# If a template fills in the name, initial-cluster of a single member has it: etcd refuses any other name.
_name(document) := name if {
	text.is_template(document.name)
	[_, name] := regex.find_all_string_submatch_n(`^\s*([\w.-]+)=[^,]+$`, document["initial-cluster"], 1)[0]
} else := document.name if {
	is_string(document.name)
} else := "etcd"

# The keys of a section are called "section.key".
given(document) := [{"name": key, "form": "key", "spelling": _spelling(key), "value": value} |
	walk(document, [path, value])
	count(path) > 0
	key := concat(".", [sprintf("%v", [part]) | some part in path])
	_is_setting(key, value)
	not _is_within_list(document, path)
]

# Go matches keys without regard to case.
_spelling(key) := lower(key) if {
	lower(key) in _keys
} else := key

_is_setting(key, value) if {
	not is_object(value)
	value != null
	not key in {"", "headroom_release"}
}

_is_setting(key, value) if {
	is_object(value)
	_spelling(key) in _keys
}

_is_within_list(document, path) if {
	count(path) > 1
	some length in numbers.range(1, count(path) - 1)
	is_array(object.get(document, array.slice(path, 0, length), null))
}
