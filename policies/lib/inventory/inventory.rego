# METADATA
# title: What Ansible would see
# description: |
#   The resolved inventory, from either input. Files that configure etcd themselves are inventories too. Nobody asks for all variables of
#   all hosts: for `examples` and `bundles` most hosts need never be looked at.
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
