# METADATA
# title: An upgrade starts from a recent patch release
# description: |
#   etcd supports the upgrade to the next minor version only from a certain patch release on: earlier ones lack fixes
#   that the upgrade needs, or the check for v2 data that stops 3.6 from starting.
# custom:
#   id: upgrade/patch_floor
#   severity: deny
#   with: [version/mixed, version/known_defects]
#   fix: First upgrade the whole cluster to the newest release of its series, then to the next minor version
#   source: https://etcd.io/docs/v3.6/upgrades/upgrade_3_6/ and https://etcd.io/docs/v3.7/upgrades/upgrade_3_7/
package headroom.rules.upgrade.patch_floor

import data.headroom.clusters
import data.headroom.model
import data.headroom.releases
import data.headroom.result

deny contains finding if some finding in result.findings("upgrade/patch_floor", problems)

problems contains result.cluster_problem(inventory, (older.hosts | newer.hosts), "etcd_version", text) if {
	some [inventory, cluster], parts in clusters.mixed
	some older in parts
	some newer in parts
	releases.is_next_minor(older.etcd.version, newer.etcd.version)

	# upgrade/zombie_members reports releases with more serious bugs.
	count(releases.upgrade_bugs(older.etcd.version)) == 0
	floor := model.series[releases.series(releases.parse(newer.etcd.version))].upgrade_floor
	semver.compare(releases.parse(older.etcd.version), floor) < 0
	text := sprintf("cluster %q goes from %s to %s, but etcd supports this upgrade from %s on", [
		cluster,
		older.etcd.version,
		newer.etcd.version,
		floor,
	])
}
