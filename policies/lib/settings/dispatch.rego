# METADATA
# title: Members and hosts of any format
# description: Picks the reader for an inventory's format, so that clusters and rules need not know it. A profile has {inventory, variables, unknown}.
package headroom.settings.dispatch

import data.headroom.formats
import data.headroom.settings.detect
import data.headroom.settings.headroom_roles
import data.headroom.settings.other_roles
import data.headroom.settings.statement

# Inventory → format.
format := detect.format

# Inventory → the group of its members.
group := object.union(detect.group, {path: "etcd" | some path in formats.paths})

# Inventory → the variables by which members are grouped into profiles.
member_variables := object.union(detect.member_variables, {path: {"statement"} | some path in formats.paths})

# The same for hosts.
host_variables := object.union(member_variables, {name: headroom_roles.host_variables | some name, about in _about; about.format in {"headroom", "unrecognised"}})

_about := {name: {"format": format, "maps": detect.maps[name], "unrecognised": detect.unrecognised[name], "plans": name in detect.of_headroom} |
	some name, format in object.union(detect.format, {path: "file" | some path in formats.paths})
}

# The member that a profile describes, see settings.headroom_roles.
member(profile) := _member(profile, _about[profile.inventory])

_member(profile, about) := headroom_roles.member(_with_workload(profile, about), profile.unknown) if {
	about.format == "headroom"
} else := object.union(found, {"planned": false, "unknown": (found.unknown | {"extra_config"}), "version": version, "format": "unrecognised"}) if {
	# An unknown role may set anything else. Headroom's default version does not apply, and the role writes releases in its own way.
	about.format == "unrecognised"
	version := other_roles.version(profile.variables)
	found := headroom_roles.member(object.union(profile.variables, {"etcd_version": version}), profile.unknown)
} else := statement.member(_statement(profile, about))

# Headroom's role plans without a workload, too: with the defaults of the plan.
_with_workload(profile, about) := object.union(profile.variables, {"etcd_workload": {}}) if {
	about.plans
	not profile.unknown.etcd_workload
	object.get(profile.variables, "etcd_workload", null) == null
} else := profile.variables

# The host that a profile describes.
host(profile) := _host(profile, _about[profile.inventory])

_host(profile, about) := headroom_roles.host(profile.variables, profile.unknown) if {
	about.format == "headroom"
} else := {"facts": facts, "names": found.names, "unknown": found.unknown} if {
	about.format == "unrecognised"
	found := headroom_roles.host(profile.variables, profile.unknown)
	facts := {fact: value | some fact, value in found.facts; value != null}
} else := statement.host(_statement(profile, about))

# Unknown values in addition to the profile's unknown variables: their spelling → reason.
reasons(profile) := _reasons(profile, _about[profile.inventory])

_reasons(profile, about) := {} if {
	about.format == "headroom"
} else := {"the rest of the settings": sprintf("%s, so they may come from elsewhere", [_why_unrecognised(about.unrecognised)])} if {
	about.format == "unrecognised"
} else := statement.reasons(_statement(profile, about))

_why_unrecognised(variables) := sprintf("%s is not a variable of a known role", [min(variables)]) if {
	count(variables) > 0
} else := "no variable identifies the role of this inventory"

_statement(profile, about) := profile.variables.statement if {
	about.format == "file"
} else := other_roles.statement(about.format, profile.variables, profile.unknown, about.maps)

# Size of a cluster whose other members are elsewhere, according to a host's file. Undefined if the inventory has all members.
size_elsewhere(name, host_name) := size if {
	name in formats.paths
	of_host := formats.inventories[name].hosts[host_name].statement
	not _is_complete(name, of_host)
	size := max({1} | {number | number := of_host.members; number != null})
}

# The file has as many services as initial-cluster has members (etcd's default is one), or it states the number of replicas. A static pod lists the members
# at the time when it joined, and an environment file may be only a part of the configuration.
_is_complete(name, of_host) if {
	_lists_members(of_host.format)
	not _hides_members(of_host)
	_members_in_file(name, of_host) == _stated_size(of_host)
}

_is_complete(_, of_host) if {
	formats.is_own_cluster(of_host)
	not _hides_members(of_host)
}

_is_complete(name, of_host) if {
	of_host.alone
	not _hides_members(of_host)
	count(formats.inventories[name].hosts) == 1
	object.get(of_host, "members", null) in {null, 1}
}

# The only StatefulSet, whose script finds the members by their number.
_is_complete(name, of_host) if {
	of_host.replicas == 1
	_hides_members(of_host)
	count(formats.inventories[name].hosts) == 1
}

# The number of members that the file shows, or only the resource, if the file has several resources.
_members_in_file(name, of_host) := count([host |
	some host, variables in formats.inventories[name].hosts
	variables.statement.resource == of_host.resource
]) if {
	of_host.resource
} else := count(formats.inventories[name].hosts)

# Formats whose file has the list of all members. An environment file, a unit and a script show one member, so of these only a cluster of one is complete.
_lists_members(format) if format in {"compose", "config file", "environment file", "running member", "systemd unit", "script", "Dockerfile", "variables"}

_lists_members(format) if data.headroom.vocabularies[format]

_hides_members(of_host) if "initial_cluster" in of_host.silent

_hides_members(of_host) if statement.unread_config_file(of_host)

_hides_members(of_host) if {
	some [setting, _] in of_host.unknown
	setting in (statement.config_file_spellings | {"initial_cluster"})
}

# Number of members in the list of a host's file. Undefined in a static pod, which keeps the list of the time when its member joined.
listed_members(name, host_name) := of_host.members if {
	name in formats.paths
	of_host := formats.inventories[name].hosts[host_name].statement
	_lists_members(of_host.format)
	not _hides_members(of_host)
}

# A StatefulSet lists its members, or leaves that to a script.
listed_members(name, host_name) := size if {
	name in formats.paths
	of_host := formats.inventories[name].hosts[host_name].statement
	of_host.replicas > 1
	size := _of_replicas(of_host)
}

_of_replicas(of_host) := of_host.replicas if {
	_hides_members(of_host)
} else := of_host.members if {
	of_host.members > 1
}

_stated_size(of_host) := 1 if {
	of_host.format in {"compose", "config file"}
	of_host.members == null
} else := of_host.members
