# METADATA
# title: An upgrade goes from one minor version to the next
# description: |
#   etcd migrates its data only from one minor version to the next, and members that are further apart refuse to work
#   together.
# custom:
#   id: upgrade/skipped_minor
#   severity: deny
#   with: [version/mixed]
#   fix: First upgrade the whole cluster to the minor version in between
#   source: https://etcd.io/docs/v3.6/upgrades/
package headroom.rules.upgrade.skipped_minor

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result

deny contains finding if some finding in result.findings("upgrade/skipped_minor", problems)

problems contains result.cluster_problem(inventory, (older.hosts | newer.hosts), "etcd_version", text) if {
	some [inventory, cluster], parts in clusters.mixed
	some older in parts
	some newer in parts
	[major, minor, _] := releases.numbers(older.etcd.version)
	[same, other, _] := releases.numbers(newer.etcd.version)
	same == major
	other > minor + 1
	text := sprintf("cluster %q spans %s and %s, more than one minor version apart", [
		cluster,
		older.etcd.version,
		newer.etcd.version,
	])
}
