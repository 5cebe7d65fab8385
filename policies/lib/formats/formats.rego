# METADATA
# title: Files that configure etcd directly
# description: |
#   These files are etcd's config file, environment files, Kubernetes manifests, Compose files, and the systemd units and scripts in which
#   headroom-lint finds members. They may be linted alone or together with an inventory. Each is detected by its content and becomes an
#   inventory of its own. Its group etcd has one host for each service or container that runs etcd. The only variable of such a host is its
#   `statement` (see settings.statement).
package headroom.formats

import data.headroom.files
import data.headroom.formats.chart_values
import data.headroom.formats.compose
import data.headroom.formats.config_file
import data.headroom.formats.environment_file
import data.headroom.formats.manifest
import data.headroom.formats.read_member
import data.headroom.formats.vocabulary

# Variables of groups and hosts are never such files, whatever they contain, except those in which headroom-lint found a member.
_candidates := {index: entry.contents |
	some index, entry in files.entries
	is_object(entry.contents)
	not _has_variables(entry)
}

_has_variables(entry) if {
	not entry.contents.headroom_member
	regex.match(`(^|/)(group_vars|host_vars)/`, entry.path)
}

# Index of an entry → host → statement. A file with several documents has several entries.
_statements_by_entry := {index: statements |
	some index, contents in _candidates
	statements := object.union_n(array.concat(
		[found | found := _statements(contents)],
		[vocabulary.statements(document) | some document in array.concat([contents], chart_values.documents(contents))],
	))
	count(statements) > 0
}

_statements(contents) := read_member.statements(contents.headroom_member) if {
	is_object(contents.headroom_member)
} else := compose.statements(contents) if {
	is_object(contents.services)
} else := manifest.statements(contents) if {
	is_string(contents.apiVersion)
} else := environment_file.statements(contents) if {
	environment_file.is_format_of(contents)
} else := config_file.statements(contents) if {
	config_file.is_format_of(contents)
}

# The paths of Kubernetes manifests and Compose files without etcd. They do not belong to inventories either.
others := {path |
	some path in {files.entries[index].path | some index, contents in _candidates; _is_other(contents)}
	not path in paths
}

_is_other(contents) if {
	is_string(contents.apiVersion)
	is_string(contents.kind)
}

_is_other(contents) if {
	some service in contents.services
	count(object.keys(service) & {"image", "build", "extends"}) > 0
}

# Whether a file says that etcd is elsewhere.
is_elsewhere if {
	some _, contents in _candidates
	vocabulary.is_elsewhere(contents)
}

# The paths of these files.
paths := {files.entries[index].path | some index, _ in _statements_by_entry}

# Path → {hosts: host → variables, groups: group → hosts}.
inventories := {path: {"hosts": hosts, "groups": object.union(_other_groups(hosts), {"all": names, "etcd": names})} |
	some path in paths
	found := {_label(name, position): {"statement": statement, "resource": _label(object.get(statement, "resource", ""), position)} |
		some name, same in _by_name(path)
		some position, statement in same
	}
	resources := {entry.resource | some entry in found}
	hosts := {name: object.union({"statement": entry.statement}, _own_cluster(name, entry, count(found), count(resources))) | some name, entry in found}
	names := object.keys(hosts)
}

# Services that name no other members are a cluster each, not one together. So is each resource that states its size.
_own_cluster(name, entry, services, resources) := {"etcd_cluster_name": name} if {
	services > 1
	is_own_cluster(entry.statement)
} else := {"etcd_cluster_name": entry.resource} if {
	resources > 1
	entry.statement.resource
} else := {}

# Whether a service of a Compose file is a cluster of its own, because it lists no members.
is_own_cluster(statement) if {
	statement.format == "compose"
	statement.members == null
	every entry in statement.unknown {
		not entry[0] in {"initial_cluster", "extra_config"}
	}
	every entry in statement.given {
		not regex.match(`(?i)discovery|config.file`, entry.name)
	}
}

_other_groups(hosts) := {group: {name | some name, variables in hosts; group in variables.statement.groups} |
	some group in {group | some variables in hosts; some group in variables.statement.groups}
}

# Two documents of one file may have the same name, for example in two Kubernetes namespaces.
_by_name(path) := {name: sort(statements) |
	named := [[name, statement] | some index, found in _statements_by_entry; files.entries[index].path == path; some name, statement in found]
	some name in {name | some [name, _] in named}
	statements := {statement | some [other, statement] in named; other == name}
}

_label(name, 0) := name

_label(name, position) := sprintf("%s (%d)", [name, position + 1]) if position > 0
