# METADATA
# title: Removed members stay removed after an upgrade
# description: |
#   3.6 reads its member list from a different place than 3.5. Releases before 3.5.26 let the two differ, so an upgrade
#   can bring back members that were removed long ago, and they count towards the quorum.
# custom:
#   id: upgrade/zombie_members
#   severity: deny
#   with: [version/mixed, version/known_defects, version/vulnerable]
#   fix: First upgrade the whole cluster to the newest 3.5, then to 3.6
#   source: https://etcd.io/docs/v3.6/upgrades/upgrade_3_6/
package headroom.rules.upgrade.zombie_members

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result

deny contains finding if some finding in result.findings("upgrade/zombie_members", problems)

problems contains result.cluster_problem(inventory, (older.hosts | newer.hosts), "etcd_version", text) if {
	some [inventory, cluster], parts in clusters.mixed
	some older in parts
	some newer in parts
	releases.is_next_minor(older.etcd.version, newer.etcd.version)
	reasons := releases.upgrade_bugs(older.etcd.version)
	count(reasons) > 0
	text := sprintf("cluster %q goes from %s to %s: %s", [
		cluster,
		older.etcd.version,
		newer.etcd.version,
		concat("; ", reasons),
	])
}
