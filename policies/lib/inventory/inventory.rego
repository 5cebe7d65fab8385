# METADATA
# title: Resolved inventories
# description: |
#   What Ansible would see, from a directory, from `ansible-inventory --list`, or from a file that configures etcd directly. Rules use
#   `names`, `members`, `opaque`, `refused`, `examples` and `bundles`, which visit few hosts one by one. `inventories` is assembled from
#   these for users and tests: inventory → {hosts, groups, unknown, opaque, refused}.
package headroom.inventory

import data.headroom.files
import data.headroom.formats
import data.headroom.inventory.folder
import data.headroom.inventory.listed
import data.headroom.inventory.paths
import data.headroom.inventory.refusals

# All inventories, as a user writes them.
names := {name | some name, _ in members}

# Inventory → group → hosts, including those of child groups.
members := object.union_n([
	folder.groups,
	listed.groups,
	{name: found.groups | some name, found in formats.inventories},
])

# Inventory → file → why its contents are unknown.
opaque := paths.opaque

# Inventory → file → why Ansible refuses it.
refused := refusals.by_inventory

# The hosts of an inventory grouped by their values of these variables: [{hosts, known, unknown}]. Bundles may be equal.
bundles(name, variables) := folder.bundles(name, variables) if {
	name in paths.roots
} else := listed.bundles(name, variables) if {
	files.listed[name]
} else := [{"hosts": {host}, "known": object.filter(found, variables), "unknown": {}} | some host, found in formats.inventories[name].hosts]

# {known, unknown}: every variable of an inventory's hosts with one of its values, or one of the reasons why it is unknown.
examples(name) := folder.examples(name) if {
	name in paths.roots
} else := listed.examples(name) if {
	files.listed[name]
} else := {"known": object.union_n([found | some found in formats.inventories[name].hosts]), "unknown": {}}

inventories := {name: {
	"hosts": {host: bundle.known | some bundle in every_bundle; some host in bundle.hosts},
	"unknown": {host: bundle.unknown | some bundle in every_bundle; count(bundle.unknown) > 0; some host in bundle.hosts},
	"groups": groups_of,
	"opaque": object.get(opaque, name, {}),
	"refused": object.get(refused, name, {}),
} |
	some name, groups_of in members
	found := examples(name)

	# NAME:PORT sets this variable without naming it.
	every_bundle := bundles(name, ((object.keys(found.known) | object.keys(found.unknown)) | {"ansible_port"}))
}

# Of the only inventory. Undefined for several inventories, because the same name may mean two hosts.
hosts := _only.hosts

groups := _only.groups

unknown := _only.unknown

_only := found if {
	count(inventories) == 1
	some found in inventories
}
