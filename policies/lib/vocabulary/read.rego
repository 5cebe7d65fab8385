# METADATA
# title: Members and places, whatever the vocabulary
# description: |
#   What clusters.rego asks, so that it and every rule need not know which vocabulary an inventory or a file is in. Profiles are
#   {inventory, variables, unknown, …}.
package headroom.vocabulary.read

import data.headroom.files
import data.headroom.vocabulary
import data.headroom.vocabulary.foreign
import data.headroom.vocabulary.recognised
import data.headroom.vocabulary.stated

# Inventory → the group of its members.
group := object.union(recognised.group, {path: "etcd" | some path in files.recognised})

# Inventory → the variables that tell profiles apart.
relevant := object.union(recognised.relevant, {path: {"statement"} | some path in files.recognised})

# The same for places.
relevant_place := object.union(relevant, {name: vocabulary.relevant_place | some name, about in _about; about.kind in {"headroom", "unrecognised"}})

# Inventory → in which vocabulary it is, and what that was told by.
_about := {name: {"kind": kind, "maps": recognised.maps[name], "strange": recognised.strange[name]} |
	some name, kind in object.union(recognised.kind, {path: "file" | some path in files.recognised})
}

# The member that a profile describes.
member(profile) := _member(profile, _about[profile.inventory])

_member(profile, about) := vocabulary.member(profile.variables, profile.unknown) if {
	about.kind == "headroom"
} else := object.union_n([found, {"planned": false, "unknown": (found.unknown | {"extra_config"})}, _without_release(profile)]) if {
	# Another role's inventory, of which nobody can tell what is not stated: where the release comes from, and what else is set.
	about.kind == "unrecognised"
	found := vocabulary.member(profile.variables, profile.unknown)
} else := stated.member(_statement(profile, about))

# Headroom's own default is not another role's.
_without_release(profile) := {} if {
	object.get(profile.variables, "etcd_version", null) != null
} else := {"version": null}

# The host that a profile describes.
place(profile) := _place(profile, _about[profile.inventory])

_place(profile, about) := vocabulary.place(profile.variables, profile.unknown) if {
	about.kind == "headroom"
} else := {"facts": facts, "names": found.names, "unknown": found.unknown} if {
	about.kind == "unrecognised"
	found := vocabulary.place(profile.variables, profile.unknown)
	facts := {fact: value | some fact, value in found.facts; value != null}
} else := stated.place(_statement(profile, about))

# What is not known of a profile beside its unknown variables: as its author wrote it → why.
reasons(profile) := _reasons(profile, _about[profile.inventory])

_reasons(profile, about) := {} if {
	about.kind == "headroom"
} else := {"the rest of the settings": reason} if {
	about.kind == "unrecognised"
	reason := sprintf("%s is no variable of Headroom's roles, so they may come from elsewhere", [min(about.strange)])
} else := stated.reasons(_statement(profile, about))

_statement(profile, about) := profile.variables.statement if {
	about.kind == "file"
} else := foreign.statement(about.kind, profile.variables, profile.unknown, about.maps)

# How many members a cluster has of which only this host can be seen: its file says so, or does not. Undefined where all are there.
size_elsewhere(name, host) := size if {
	name in files.recognised
	statement := files.inventories[name].hosts[host].statement
	not _whole(name, statement)
	size := max({1} | {number | number := statement.members; number != null})
}

# One cluster in one file: as many services as members, or one that names no others, which is etcd's default. A static pod names those that
# were there when it joined, and an environment may be only a part of what etcd is given.
_whole(name, statement) if {
	statement.vocabulary in {"compose", "config file"}
	count(files.inventories[name].hosts) == _stated_members(statement)
}

_stated_members(statement) := 1 if {
	statement.members == null
} else := statement.members
