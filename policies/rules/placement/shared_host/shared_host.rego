# METADATA
# title: etcd has its host to itself
# description: |
#   What else runs on the host takes pages of the database out of memory, waits for the same disk, and may make the kernel
#   kill. etcd feels it first: an fsync that is late is a leader that is lost.
# custom:
#   id: placement/shared_host
#   severity: warn
#   fix: Move etcd to hosts of its own, or waive this rule where both have limits and disks of their own
#   source: https://etcd.io/docs/v3.6/op-guide/hardware/; the thresholds (heavy_groups) for the groups that count
package headroom.rules.placement.shared_host

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.inventory
import data.headroom.result

warn contains finding if some finding in result.findings("placement/shared_host", problems)

problems contains problem if {
	some name, found in inventory.members
	some group, hosts in found
	lower(replace(group, "-", "_")) in _heavy
	group != clusters.group[name]
	shared := hosts & object.get(found, clusters.group[name], set())
	count(shared) > 0
	problem := {
		"inventory": name,
		"hosts": shared,
		"about": group,
		"text": sprintf("also in group %q, whose work takes memory and disk from etcd", [group]),
	}
}

_heavy := {group | some group in threshold.heavy_groups}
