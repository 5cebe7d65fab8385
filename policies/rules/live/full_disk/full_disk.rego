# METADATA
# title: The data directory's disk has free space
# description: |
#   On a full disk etcd stops at the next write. A defragmentation writes a second copy of the database before it removes the first.
# custom:
#   id: live/full_disk
#   severity: warn
#   fix: Enlarge the volume, or remove other files
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#defragmentation
package headroom.rules.live.full_disk

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("live/full_disk", problems)

problems contains result.problem(host_profile, "disk_free", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.disk_free * 1000 < host_profile.facts.disk_size * threshold.disk_free_permille
	text := sprintf("the disk of %s has %s free of %s, under %v %%", [
		host_profile.names.disk_free,
		units.format_size(host_profile.facts.disk_free),
		units.format_size(host_profile.facts.disk_size),
		threshold.disk_free_permille / 10,
	])
}

problems contains result.problem(host_profile, "disk_free", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.disk_free < host_profile.facts.db_size
	text := sprintf("the disk of %s has %s free, too little for a copy of the database of %s", [
		host_profile.names.disk_free,
		units.format_size(host_profile.facts.disk_free),
		units.format_size(host_profile.facts.db_size),
	])
}
