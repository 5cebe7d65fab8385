# METADATA
# title: Whole inventories
# description: |
#   Every variable of every host, put together from what rules ask for: `examples` says which variables there are, `bundles` who has what.
#   `hosts`, `groups` and `unknown` are those of the only inventory.
package headroom.testing.resolved

import data.headroom.inventory

inventories := {name: {
	"hosts": {host: bundle.known | some bundle in bundles; some host in bundle.hosts},
	"unknown": {host: bundle.unknown | some bundle in bundles; count(bundle.unknown) > 0; some host in bundle.hosts},
	"groups": groups_of,
	"opaque": object.get(inventory.opaque, name, {}),
	"refused": object.get(inventory.refused, name, {}),
} |
	some name, groups_of in inventory.members
	found := inventory.examples(name)

	# NAME:PORT is no variable that anybody writes.
	bundles := inventory.bundles(name, ((object.keys(found.known) | object.keys(found.unknown)) | {"ansible_port"}))
}

hosts := _only.hosts

groups := _only.groups

unknown := _only.unknown

_only := found if {
	count(inventories) == 1
	some found in inventories
}
