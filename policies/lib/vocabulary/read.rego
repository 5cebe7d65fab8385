# METADATA
# title: Members and places, whatever the vocabulary
# description: |
#   What clusters.rego asks, so that it and every rule need not know which vocabulary an inventory or a file is in. Profiles are
#   {inventory, variables, unknown, …}.
package headroom.vocabulary.read

import data.headroom.files
import data.headroom.inventory
import data.headroom.vocabulary
import data.headroom.vocabulary.foreign
import data.headroom.vocabulary.recognised
import data.headroom.vocabulary.stated

# METADATA
# description: Inventory → the group of its members.
group := object.union(recognised.group, {path: "etcd" | some path in files.recognised})

# METADATA
# description: Inventory → the variables that tell profiles apart.
relevant := object.union(recognised.relevant, {path: {"statement"} | some path in files.recognised})

# METADATA
# description: The same for places.
relevant_place := {name: _relevant_place(name) | some name, _ in inventory.inventories}

_relevant_place(name) := vocabulary.relevant_place if {
	_own(name)
} else := relevant[name]

_own(name) if {
	recognised.kind[name] == "headroom"
	not name in files.recognised
}

# METADATA
# description: The member that a profile describes.
member(profile) := vocabulary.member(profile.variables, profile.unknown) if {
	_own(profile.inventory)
} else := stated.member(_statement(profile))

# METADATA
# description: The host that a profile describes.
place(profile) := vocabulary.place(profile.variables, profile.unknown) if {
	_own(profile.inventory)
} else := stated.place(_statement(profile))

# METADATA
# description: "What is not known of a profile beside its unknown variables: as its author wrote it → why."
reasons(profile) := {} if {
	_own(profile.inventory)
} else := stated.reasons(_statement(profile))

_statement(profile) := profile.variables.statement if {
	profile.inventory in files.recognised
} else := foreign.statement(
	recognised.kind[profile.inventory],
	profile.variables,
	profile.unknown,
	recognised.maps[profile.inventory],
)

# METADATA
# description: |
#   How many members a cluster has of which only this host can be seen: its file says so, or does not. Undefined where all are there.
size_elsewhere(name, host) := size if {
	name in files.recognised
	statement := inventory.inventories[name].hosts[host].statement
	not _whole(name, statement)
	size := max({1} | {number | number := statement.members; number != null})
}

# One cluster in one file: as many services as its members, or a service that is alone and names no others.
_whole(name, statement) if count(inventory.inventories[name].hosts) == statement.members

_whole(name, statement) if {
	statement.members == null
	not statement.kubernetes
	count(inventory.inventories[name].hosts) == 1
}
