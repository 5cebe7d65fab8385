# METADATA
# title: etcd's own config file
# description: Known by keys that etcd's config file has and hardly anything else.
package headroom.files.config

import data.headroom.files.reading
import data.headroom.model

_keys := {key | some release in model.series; some key, _ in release.config_keys}

# Dashes make them no variables of Ansible, and no groups that anybody has.
_telling := {
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

# Whether a document is one.
recognised(document) if {
	count(object.keys(document) & _telling) > 1
	not document.all
}

# The only member, with its statement. Such a file says nothing of the release.
statements(document) := {_name(document): reading.statement("config file", {"given": _given(document), "unknown": {}})}

_name(document) := document.name if {
	is_string(document.name)
} else := "etcd"

# The keys of a section are called "section.key".
_given(document) := [{"name": key, "form": "key", "spelling": key, "value": value} |
	walk(document, [path, value])
	count(path) > 0
	key := concat(".", [sprintf("%v", [part]) | some part in path])
	_leaf(key, value)
	not _within_list(document, path)
]

_leaf(key, value) if {
	not is_object(value)
	value != null
	key != ""
}

_leaf(key, value) if {
	is_object(value)
	key in _keys
}

_within_list(document, path) if {
	count(path) > 1
	some length in numbers.range(1, count(path) - 1)
	is_array(object.get(document, array.slice(path, 0, length), null))
}
