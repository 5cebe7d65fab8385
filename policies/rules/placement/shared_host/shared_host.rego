# METADATA
# title: etcd has its host to itself
# description: |
#   Other workloads on the host evict pages of the database from memory, compete for the disk, and can trigger the OOM
#   killer. etcd suffers first: one slow fsync can cost the cluster its leader.
# custom:
#   id: placement/shared_host
#   severity: warn
#   fix: Move etcd to dedicated hosts, or waive this rule where both have limits and disks of their own
#   source: https://etcd.io/docs/v3.6/op-guide/hardware/; the thresholds (heavy_groups) for the groups that count
package headroom.rules.placement.shared_host

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.inventory
import data.headroom.result
import data.headroom.settings

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
		"text": sprintf("also in group %q, whose workload competes with etcd for memory and disk", [group]),
	}
}

# A file of Kubernetes that lets it run workloads on these hosts.
problems contains result.problem(host_profile, host_profile.names.workloads, text) if {
	some host_profile in clusters.host_profiles
	not settings.is_false(host_profile.facts.workloads)
	text := sprintf(
		"Kubernetes may run workloads on its host (%s is %v), and they compete with etcd for memory and disk",
		[host_profile.names.workloads, host_profile.facts.workloads],
	)
}

_heavy := {group | some group in threshold.heavy_groups}
