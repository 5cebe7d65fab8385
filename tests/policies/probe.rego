# Returns the resolved inventories as a finding, for tests only.
package headroom_probe

deny contains json.marshal(data.headroom.inventory.inventories)
