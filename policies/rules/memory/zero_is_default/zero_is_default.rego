# METADATA
# title: Zero is not used to mean none
# description: |
#   For snapshot-count and for the catch-up entries, etcd takes 0 as its default, not as none: setting 0 to save memory
#   gives 10000 (100000 on 3.5) and 5000 entries.
# custom:
#   id: memory/zero_is_default
#   severity: warn
#   fix: Write the number that you mean, or leave it out
#   source: "etcdserver of each release: DefaultSnapshotCount, DefaultSnapshotCatchUpEntries"
package headroom.rules.memory.zero_is_default

import data.headroom.clusters
import data.headroom.model
import data.headroom.releases
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/zero_is_default", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	some setting in ["snapshot_count", "snapshot_catchup_entries"]
	name := profile.etcd.names[setting]
	units.parse_count(profile.etcd.settings[setting]) == 0
	entries := model.settings[setting][releases.series(profile.etcd.release)].default
	text := sprintf("%s is 0, for which etcd %s uses its default of %s", [name, profile.etcd.version, units.format_count(entries)])
}
