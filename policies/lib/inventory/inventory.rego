# METADATA
# title: What Ansible would see
# description: |
#   The resolved inventory, from either input. `inventories` maps each inventory to {hosts, groups, unknown, opaque, refused}: host →
#   variables, group → hosts, host → variable → why it is not known, file → why nothing of it is known, file → why Ansible refuses it.
#   Files that configure etcd themselves are inventories too. `hosts` and `groups` are those of the only inventory; with several of them there is none, as one name may mean two hosts.
package headroom.inventory

import data.headroom.files
import data.headroom.inventory.folder
import data.headroom.inventory.listed

inventories := object.union_n([folder.inventories, listed.inventories, files.inventories])

hosts := _only.hosts

groups := _only.groups

unknown := _only.unknown

_only := inventory if {
	count(inventories) == 1
	some inventory in inventories
}
