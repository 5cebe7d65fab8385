# METADATA
# title: A retention has its unit
# description: |
#   In periodic mode a bare number is hours, not minutes or revisions: 5 keeps the history of five hours, which peaks at
#   six, in the database and in the index.
# custom:
#   id: compaction/bare_hours
#   severity: warn
#   fix: Write the unit (5m, 5h), or set auto-compaction-mode to revision
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#auto-compaction
package headroom.rules.compaction.bare_hours

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("compaction/bare_hours", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles

	# An API server compacts every five minutes, whatever this says.
	not profile.etcd.kubernetes
	name := profile.etcd.names.auto_compaction_retention
	not "auto_compaction_mode" in profile.etcd.unknown
	object.get(profile.etcd.settings, "auto_compaction_mode", "periodic") == "periodic"
	value := sprintf("%v", [profile.etcd.settings.auto_compaction_retention])
	regex.match(`^[1-9][0-9]*$`, value)
	text := sprintf("%s is %s, which periodic mode takes for %s", [name, value, _hours(value)])
}

_hours("1") := "1 hour"

_hours(number) := sprintf("%s hours", [number]) if number != "1"
