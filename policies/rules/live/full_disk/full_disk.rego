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

problems contains result.problem(place, "disk_free", text) if {
	some place in clusters.host_profiles
	place.facts.disk_free * 1000 < place.facts.disk_size * threshold.disk_free_permille
	text := sprintf("the disk of %s has %s free of %s, under %v %%", [
		place.names.disk_free,
		units.format_size(place.facts.disk_free),
		units.format_size(place.facts.disk_size),
		threshold.disk_free_permille / 10,
	])
}

problems contains result.problem(place, "disk_free", text) if {
	some place in clusters.host_profiles
	place.facts.disk_free < place.facts.db_size
	text := sprintf("the disk of %s has %s free, too little for a copy of the database of %s", [
		place.names.disk_free,
		units.format_size(place.facts.disk_free),
		units.format_size(place.facts.db_size),
	])
}
