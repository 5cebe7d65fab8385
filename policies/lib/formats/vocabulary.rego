# METADATA
# title: Vocabularies of distributions, charts and operators
# description: |
#   The members in resources and values that configure etcd in words of their own, such as kubeadm's ClusterConfiguration. The vocabularies are
#   data, see docs/vocabularies.md: this package only interprets them.
package headroom.formats.vocabulary

import data.headroom.formats.config_file
import data.headroom.formats.container
import data.headroom.formats.quantity
import data.headroom.formats.statement_builder
import data.headroom.releases.spelling

# A file shows at most this many members by name.
_most_members := 9

# Member → statement.
statements(document) := {_label(name, size, number): object.union_n([statement, own, {"members": _members(size, statement)}, {"resource": name | size != null}]) |
	names := {id: _name(document, data.headroom.vocabularies[id]) | some id in _detected(document)}
	some id, _ in names
	vocabulary := data.headroom.vocabularies[id]
	statement := _statement(id, vocabulary, document)
	name := _distinct(names, id)
	size := _size(document, vocabulary)
	some number in numbers.range(1, _shown(size))
	own := _of_node(document, vocabulary, number)
}

# One document may configure two releases side by side, each in a vocabulary of its own and without a name.
_distinct(names, id) := sprintf("%s (%s)", [names[id], id]) if {
	some other, name in names
	other != id
	name == names[id]
} else := names[id]

_detected(document) := {id |
	some id in _possible(document)
	vocabulary := data.headroom.vocabularies[id]
	_matches_any(document, vocabulary.detect)
	not _matches_any(document, object.get(vocabulary, "exclude", []))
}

# Most documents lack the key that a vocabulary's first sign begins with, and are not compared further.
_possible(document) := {id | some [key, id] in _first_keys; object.get(document, key, null) != null}

_first_keys := {[key, id] |
	some id, vocabulary in data.headroom.vocabularies
	some signs in vocabulary.detect
	key := split(min(object.keys(signs)), ".")[0]
}

# Whether a document says that etcd is elsewhere: an external cluster, another database, or a host without etcd.
is_elsewhere(document) if {
	some id in _possible(document)
	vocabulary := data.headroom.vocabularies[id]
	_matches_any(document, vocabulary.detect)
	outside := [signs | some signs in vocabulary.exclude; some path, _ in signs; regex.match(`(?i)external|type$`, path)]
	_matches_any(document, outside)
}

_matches_any(document, alternatives) if {
	some signs in alternatives
	every path, pattern in signs { regex.match(pattern, _text(_at(document, path))) }
}

# Undefined if there is nothing; a step may be an index, or KEY=VALUE for the first such item of a list.
_at(document, path) := _below(document, path) if not contains(path, "=")

_at(document, path) := _below(items[0], after) if {
	[_, before, key, value, after] := regex.find_all_string_submatch_n(`^([^=]+)\.(\w+)=(\w+)\.(.+)$`, path, 1)[0]
	items := [item | some item in _below(document, before); item[key] == value]
}

_below(document, path) := value if {
	value := object.get(document, _steps(path), null)
	value != null
}

# Most paths have no index.
_steps(path) := split(path, ".") if {
	not regex.match(`(^|\.)[0-9]+(\.|$)`, path)
} else := [_step(step) | some step in split(path, ".")]

_step(step) := to_number(step) if {
	regex.match(`^[0-9]+$`, step)
} else := step

_text(value) := "" if {
	type_name(value) in {"object", "array"}
} else := sprintf("%v", [value])

_name(document, vocabulary) := name if {
	name := _at(document, vocabulary.name)
	is_string(name)
} else := "etcd"

_shown(size) := size if {
	is_number(size)
	size <= _most_members
	size > 1
} else := 1

_label(name, size, number) := sprintf("%s-%d", [name, number - 1]) if {
	_shown(size) > 1
} else := name

# null if the file does not say how many members there are.
_size(document, vocabulary) := size if {
	size := _at(document, vocabulary.replicas)
	is_number(size)
	size > 0
} else := count(nodes) if {
	nodes := _nodes(document, vocabulary)
	count(nodes) > 0
} else := null

# The size from initial-cluster, if nothing else states it.
_members(size, statement) := statement.members if {
	size == null
} else := size

_nodes(document, vocabulary) := [node |
	some node in _at(document, vocabulary.members.at)
	_is_listed(node, vocabulary.members)
]

_is_listed(_, members) if not members.field

_is_listed(node, members) if _is_member(node[members.field], members.value)

# One of several values may make a node a member, and a node may have several roles.
_is_member(value, value)

_is_member(roles, value) if value in roles

_is_member(value, values) if value in values

# {groups, facts} of a node: what else it is, and whether it takes workloads.
_of_node(document, vocabulary, number) := {"groups": _groups(node[field]), "facts": _workloads_on(node, vocabulary)} if {
	field := vocabulary.members.field
	node := _nodes(document, vocabulary)[number - 1]
} else := {"groups": []}

_groups(roles) := roles if {
	is_array(roles)
} else := []

_workloads_on(node, vocabulary) := {"workloads": {"name": sprintf("%s.%s", [vocabulary.members.at, path]), "value": _at(node, path)}} if {
	matching := [signs | some signs in vocabulary.members.workloads; _matches_any(node, [signs])]
	path := min(object.keys(matching[0]))
} else := {}

_statement(id, vocabulary, document) := statement_builder.build(id, object.union_n([
	{
		"given": array.concat(given, _defaults(id, vocabulary, given)),
		"unknown": {},
		"kubernetes": object.get(vocabulary, "kubernetes", false),
		"silent": object.get(vocabulary, "sets", []),
		"elsewhere": object.get(vocabulary, "elsewhere", false),
	},
	_release(document, vocabulary),
	_limit(document, vocabulary),
	_volume(document, vocabulary),
	_workloads(document, vocabulary),
])) if {
	stated := [entry |
		some setting in vocabulary.settings
		_applies(document, setting)
		some value in _values_at(document, setting)
		some entry in _entries(setting, value)
	]
	spelt := {entry.spelling | some entry in stated; not entry.implied}

	# An argument wins over what another setting implies.
	given := [object.remove(entry, ["implied"]) | some entry in stated; not _is_overridden(entry, spelt)]
}

# A chart may pass a value on only together with others.
_applies(document, setting) if {
	_matches_any(document, object.get(setting, "when", [{}]))
	not _matches_any(document, object.get(setting, "unless", []))
}

_is_overridden(entry, spelt) if {
	entry.implied
	entry.spelling in spelt
}

# The value at a path, or the values within the patches of a list.
_values_at(document, place) := [value |
	some patch in _at(document, place.at)
	value := _at(_parsed(patch), place.within)
] if {
	place.within
} else := [value | value := _at(document, place.at)]

# Skip names of files: their patches are not in this document.
_parsed(patch) := patch if is_object(patch)

_parsed(patch) := document if {
	is_string(patch)
	yaml.is_valid(patch)
	document := yaml.unmarshal(patch)
	is_object(document)
}

_path(place) := object.get(place, "within", place.at)

# One setting, a config file of etcd, or a map, a list of {name, value}, or a list of "name=value". An empty text means the distribution's default.
_entries(setting, value) := [{"name": setting.at, "form": setting.form, "spelling": given, "value": result, "implied": true} |
	_text(value) == object.get(setting, "is", "true")
	some given, result in setting.gives
] if {
	setting.gives
} else := [{"name": setting.at, "form": setting.form, "spelling": setting.spelling, "value": _value(setting, value)} | value != ""] if {
	setting.spelling
} else := [object.union(entry, {"name": _entry_name(setting, entry.spelling)}) |
	config_file.is_format_of(value)
	some entry in config_file.given(value)
	entry.value != ""
] if {
	setting.form == "key"
} else := [{"name": _entry_name(setting, name), "form": setting.form, "spelling": name, "value": given} |
	some [written, given] in _pairs(value)
	name := _spelling(setting.form, trim_left(written, "-"))
	_is_etcd(setting.form, name)
]

# A flag never has an underscore. Container Linux writes flags with them.
_spelling("flag", name) := replace(name, "_", "-")

_spelling("env", name) := name

_entry_name(setting, name) := sprintf("%s[%q]", [_path(setting), name])

_is_etcd("flag", _)

# kops passes these to etcd-manager.
_is_etcd("env", name) if {
	spelling.is_etcd_variable(name)
	not startswith(name, "ETCD_MANAGER_")
}

# A list of values is etcd's list of texts.
_pairs(value) := [[name, _joined(given)] | some name, given in value] if {
	is_object(value)
} else := [pair | some item in value; pair := _pair(item)] if {
	is_array(value)
} else := [_pair(value)] if {
	# A list with one item may be written as a text.
	contains(value, "=")
}

_joined(value) := concat(",", [sprintf("%v", [item]) | some item in value]) if {
	is_array(value)
} else := value

_pair(item) := [item.name, object.get(item, "value", null)] if {
	is_string(item.name)
} else := [substring(item, 0, at), substring(item, at + 1, -1)] if {
	at := indexof(item, "=")
	at > 0
} else := [item, "true"] if {
	is_string(item)
}

_value(setting, value) := quantity.bytes(value) if {
	setting.type == "quantity"
} else := _joined(value)

# What the file does not set. Flags, variables and keys of one setting exclude each other.
_defaults(id, vocabulary, given) := [{"name": sprintf("%s's default --%s", [id, default_of.spelling]), "form": "flag", "spelling": default_of.spelling, "value": default_of.value} |
	set_flags := {spelling.as_flag(entry.form, entry.spelling) | some entry in given}
	some default_of in object.get(vocabulary, "defaults", [])
	not default_of.spelling in set_flags
]

_release(document, vocabulary) := {"version": versions[0]} if {
	versions := array.concat(
		[version | some path in object.get(vocabulary, "images", []); version := container.release(_at(document, path)).version],
		[version | some path in object.get(vocabulary, "tags", []); version := container.release_of_tag(_text(_at(document, path)))],
	)
	count(versions) > 0
} else := {"version": vocabulary.release} if {
	vocabulary.release
} else := {"no_version": vocabulary.version_unknown}

_limit(document, vocabulary) := {"limit": {"name": vocabulary.limit, "bytes": bytes}} if {
	bytes := quantity.bytes(_at(document, vocabulary.limit))
} else := {}

_volume(document, vocabulary) := {"facts": {"data_fstype": {"name": vocabulary.empty_dir, "value": "emptyDir"}}} if {
	is_object(_at(document, vocabulary.empty_dir))
} else := {"facts": {"persistent": {"name": vocabulary.persistent, "value": false}}} if {
	_at(document, vocabulary.persistent) == false
} else := {}

# Where the file lets Kubernetes run workloads on the members' hosts.
_workloads(document, vocabulary) := {"facts": {"workloads": {"name": names[0], "value": true}}} if {
	names := [_path(place) |
		some place in object.get(vocabulary, "workloads", [])
		some value in _values_at(document, place)
		_text(value) == "true"
	]
	count(names) > 0
} else := {}
