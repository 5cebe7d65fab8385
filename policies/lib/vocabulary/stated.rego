# METADATA
# title: What other vocabularies say, as rules read it
# description: |
#   Every foreign vocabulary is reduced to a statement, and this turns statements into the members and places that vocabulary.rego
#   describes. A statement is {vocabulary, given, version, limit, workload, unknown, kubernetes}: given holds what reaches etcd (see
#   spelling.rego), a role's own defaults among it, whose name says so; version is null and limit has no bytes where nothing is said;
#   unknown maps what cannot be read, as its author wrote it, to [canonical name, why]; kubernetes says whether an API server uses this
#   etcd, and compacts it. default_limit is a role's limit that may hold ({name, bytes, where}), where that is not known, else null; memlock
#   is how many bytes etcd may lock in memory, else null.
package headroom.vocabulary.stated

import data.headroom.vocabulary.spelling

# What identifies a member is no setting of the profile that members share.
_identifying := {"name"}

# Canonical name → the entries that set it.
_entries(statement) := {name: entries |
	named := [[name, entry] |
		some entry in statement.given
		entry.value != null
		name := spelling.setting(statement.version, entry.form, entry.spelling)
		not name in _identifying
	]
	some name in {name | some [name, _] in named}
	entries := [entry | some [other, entry] in named; other == name]
}

_config_file(statement) := [entry.name |
	some entry in statement.given
	entry.spelling in {"config-file", "ETCD_CONFIG_FILE"}
][0]

# The member. With a config file etcd passes over flags and environment: nothing of them is a setting, and the file's are not known here.
member(statement) := object.union(_member(statement, {}), {
	"config_file": name,
	"unknown": ({"extra_config"} | _unknown(statement)),
}) if {
	name := _config_file(statement)
} else := _member(statement, _entries(statement))

_member(statement, entries) := {
	"vocabulary": statement.vocabulary,
	"kubernetes": statement.kubernetes,
	"version": statement.version,
	"planned": false,
	"workload": statement.workload,
	"settings": {name: spelling.value_of(found[0].form, name, found[0].value) | some name, found in entries},
	"names": {name: found[0].name | some name, found in entries},
	"given": statement.given,
	"twice": {name: [entry.name | some entry in found] | some name, found in entries; count(found) > 1},
	"limit": statement.limit,
	"default_limit": object.get(statement, "default_limit", null),
	"data_size": null,
	"memlock": object.get(statement, "memlock", null),
	"unknown": _unknown(statement),
}

_unknown(statement) := {name | some [name, _] in statement.unknown}

# The host, of which these vocabularies say no more than where the data lies. Other facts are missing, as they have no word for them.
place(statement) := {
	"facts": {fact: found[0].value | some fact, found in entries},
	"names": {fact: found[0].name | some fact, found in entries},
	"unknown": _unknown(statement),
} if {
	entries := object.filter(_entries(statement), {"data_dir", "wal_dir"})
}

# What a user is told not to be known: as it is written → why.
reasons(statement) := {written: reason | some written, [_, reason] in statement.unknown}

# The release in a text such as "v3.5.21", "3.5.21-0" or the tag of an image; undefined where it names none.
release(text) := regex.find_all_string_submatch_n(_release, text, 1)[0][1] if is_string(text)

_release := `^v?((?:0|[1-9][0-9]{0,3})(?:\.(?:0|[1-9][0-9]{0,3})){2})(?:[-+_].*)?$`
