# METADATA
# title: What Ansible would see
# description: |
#   The resolved inventory, from either input. Files that configure etcd themselves are inventories too. `inventories` maps each inventory to
#   {hosts, groups, unknown, opaque, refused}: host → variables, group → hosts, host → variable → why it is not known, file → why nothing of
#   it is known, file → why Ansible refuses it. `hosts`, `groups` and `unknown` are those of the only inventory; with several of them there
#   is none, as one name may mean two hosts.
#
#   Rules ask for less: `names`, `members`, `opaque`, `refused`, `examples` and `bundles`, for which most hosts need never be looked at.
#   The whole is put together from these: what is right here is right there.
package headroom.inventory

import data.headroom.files
import data.headroom.inventory.definitions
import data.headroom.inventory.folder
import data.headroom.inventory.listed
import data.headroom.inventory.paths

# All inventories, as a user writes them.
names := {name | some name, _ in members}

# Inventory → group → hosts, those of its children among them.
members := object.union_n([
	folder.groups,
	listed.groups,
	{name: found.groups | some name, found in files.inventories},
])

# Inventory → file → why nothing of it is known.
opaque := paths.opaque

# Inventory → file → why Ansible refuses it.
refused := definitions.refused

# The hosts of an inventory by what they have of a set of variables, as a list of {hosts, known, unknown}: the hosts of a bundle have the
# same values of these variables, and the same of them are not known. Several bundles may be alike.
bundles(name, variables) := folder.bundles(name, variables) if {
	name in paths.roots
} else := listed.bundles(name, variables) if {
	paths.listed[name]
} else := [{"hosts": {host}, "known": object.filter(found, variables), "unknown": {}} | some host, found in files.inventories[name].hosts]

# All variables of an inventory's hosts with one of the values that each has somewhere, and one of the reasons why others are not known.
examples(name) := folder.examples(name) if {
	name in paths.roots
} else := listed.examples(name) if {
	paths.listed[name]
} else := {"known": object.union_n([found | some found in files.inventories[name].hosts]), "unknown": {}}

inventories := {name: {
	"hosts": {host: bundle.known | some bundle in everything; some host in bundle.hosts},
	"unknown": {host: bundle.unknown | some bundle in everything; count(bundle.unknown) > 0; some host in bundle.hosts},
	"groups": groups_of,
	"opaque": object.get(opaque, name, {}),
	"refused": object.get(refused, name, {}),
} |
	some name, groups_of in members
	found := examples(name)

	# NAME:PORT is no variable that anybody writes.
	everything := bundles(name, ((object.keys(found.known) | object.keys(found.unknown)) | {"ansible_port"}))
}

hosts := _only.hosts

groups := _only.groups

unknown := _only.unknown

_only := found if {
	count(inventories) == 1
	some found in inventories
}
