# METADATA
# title: Statements
# description: |
#   The common form of everything but Headroom's own variables: what another role's inventory, or a file that configures etcd, says of one member.
#   The fields of the same name in a member, see settings.headroom_roles, are described there.
#
#   Every statement has:
#   - format, workload, kubernetes
#   - given: what reaches etcd, including a role's defaults
#   - version: null if unstated
#   - limit: without bytes if unstated
#   - unknown: what the author wrote → [canonical name, reason]
#
#   It may have:
#   - complete, default_limit, memlock, twice
#   - members: the size of the cluster, from initial-cluster or from a field that states it, else null
#   - replicas: the number of replicas that the file states, else null
#   - alone: whether the file runs one member, if it lists no others
#   - resource: the name of the custom resource that states the size
#   - silent: canonical names of settings that may be set elsewhere; no finding reports them as unknown
#   - where: variable or flag → [path, line]
#   - facts: fact of the host → {name, value}
#   - mounted: the directories that are volumes
#   - groups: groups that the host is in
package headroom.settings.statement

import data.headroom.files
import data.headroom.formats.config_file
import data.headroom.releases
import data.headroom.releases.feature_gates
import data.headroom.releases.spelling

# These differ between the members of a profile.
_identity := {"name"}

# Canonical name → the entries that set it.
_entries(statement) := {name: entries |
	release := releases.nearest(statement.version)
	named := [[name, entry] |
		some entry in statement.given
		entry.value != null
		name := spelling.setting(release, entry.form, entry.spelling)
	]
	some name in {name | some [name, _] in named}
	entries := [entry | some [other, entry] in named; other == name]
}

config_file_spellings := {"config-file", "ETCD_CONFIG_FILE"}

_config_file(statement) := [entry.name |
	some entry in statement.given
	entry.spelling in config_file_spellings
][0]

# The flag or the variable with a config file whose settings the statement lacks; undefined without one.
unread_config_file(statement) := name if {
	name := _config_file(statement)
	"extra_config" in _unknown_in_config(statement)
}

# With a config file etcd ignores flags and environment. The file's own settings are unknown unless headroom-lint found it.
member(statement) := object.union(_member(statement, _entries(_effective(statement))), {
	"config_file": name,
	"unknown": (_unknown_in_config(statement) | _unknown(statement)),
}) if {
	name := _config_file(statement)
} else := _member(statement, _entries(statement))

_unknown_in_config(statement) := set() if {
	some entry in statement.given
	entry.form == "key"
} else := {"extra_config"}

# What etcd and Go's runtime read.
_effective(statement) := object.union(statement, {"given": [entry |
	some entry in statement.given
	_is_read_with_config(entry)
]}) if {
	_config_file(statement)
} else := statement

_is_read_with_config(entry) if entry.form == "key"

_is_read_with_config(entry) if entry.spelling in {"GOGC", "GOMEMLIMIT"}

_member(statement, all_entries) := {
	"format": statement.format,
	"kubernetes": statement.kubernetes,
	"version": statement.version,
	"planned": false,
	"complete": object.get(statement, "complete", false),
	"workload": statement.workload,
	"settings": {name: spelling.value_of(found[0].form, name, found[0].value) | some name, found in entries},
	"names": {name: found[0].name | some name, found in entries},
	"given": statement.given,
	"twice": _twice(statement, all_entries),
	"limit": statement.limit,
	"default_limit": object.get(statement, "default_limit", null),
	"data_size": null,
	"memlock": object.get(statement, "memlock", null),
	"unknown": _unknown(statement),
} if {
	entries := object.remove(all_entries, _identity | _no_limit(all_entries))
}

# GOMEMLIMIT=off means no limit.
_no_limit(entries) := {"gomemlimit"} if {
	entries.gomemlimit[0].value == "off"
} else := set()

# Until 3.3 a flag wins over its variable.
_twice(statement, entries) := {} if {
	semver.compare(releases.parse(statement.version), "3.4.0") < 0
} else := object.union_n([
	object.get(statement, "twice", {}),
	{name: [entry.name | some entry in found] | some name, found in entries; count(found) > 1},
	feature_gates.set_twice(releases.nearest(statement.version), _effective(statement).given),
])

# `silent` lists settings that a distribution may set by itself. No finding reports them as unknown.
_unknown(statement) := {name | some [name, _] in statement.unknown} | {name | some name in object.get(statement, "silent", [])}

# These formats describe only the host's directories, and some the volume.
host(statement) := {
	"facts": {fact: entry.value | some fact, entry in entries},
	"names": {fact: entry.name | some fact, entry in entries},
	"unknown": _unknown(statement),
} if {
	# If a volume is mounted there, a path in the container gives no information about the host.
	judged := {"data_dir", "wal_dir"} - {fact | some fact in object.get(statement, "mounted", [])}
	directories := {fact: found[0] |
		some fact, found in object.filter(_entries(_effective(statement)), judged)
		not _is_in_container(statement.format, found[0].value)
	}
	entries := object.union(directories, object.get(statement, "facts", {}))
}

# Unknown values in their own spelling → reason, without settings whose value no rule needs. A setting that the model lacks has its spelling for a name.
reasons(statement) := object.union(
	{name: _why_unread | name := unread_config_file(statement)},
	{written: reason |
		some written, [name, reason] in statement.unknown
		not replace(trim_prefix(lower(name), "etcd_"), "-", "_") in _needless
	},
)

# headroom-lint joins only a unit with its config file.
_why_unread := "a config file among the files is checked as another member" if {
	some entry in files.entries
	is_object(entry.contents)
	config_file.is_format_of(entry.contents)
} else := "it is not among the files"

_needless := {
	"discovery", "discovery_fallback", "discovery_proxy", "discovery_srv", "discovery_srv_name",
	"initial_cluster_state", "initial_cluster_token",
	"key_file", "peer_key_file",
	"log_level", "log_output", "log_outputs", "log_package_levels", "logger",
}

# In a container, /run is a folder like any other.
_is_in_container(format, path) if {
	format in {"compose", "manifest"}
	regex.match(`^/(var/)?run/`, path)
}
