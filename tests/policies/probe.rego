# Shows what the resolver makes of the files that conftest hands to it. Only for tests.
package headroom_probe

deny contains json.marshal(data.headroom.inventory.inventories)
