# METADATA
# title: Removed members stay removed over an upgrade
# description: |
#   3.6 takes its list of members from another place than 3.5 did. Releases of 3.5 before 3.5.26 let the two differ, and
#   an upgrade brings members back that were removed long ago: the majority is counted with the dead.
# custom:
#   id: upgrade/zombie_members
#   severity: deny
#   with: [version/mixed, version/vulnerable, version/watch_leak]
#   fix: Upgrade the whole cluster to the newest 3.5 first, then to 3.6
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
	[major, minor, _] := releases.numbers(older.etcd.version)
	[same, other, _] := releases.numbers(newer.etcd.version)
	same == major
	other > minor
	some bug in releases.bugs(older.etcd.version)
	bug.only_for_upgrade
	bug.fixed != null
	text := sprintf("cluster %q goes from %s to %s: %s", [
		cluster,
		older.etcd.version,
		newer.etcd.version,
		bug.text,
	])
}
