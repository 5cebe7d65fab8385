# METADATA
# title: The workload and the settings can be parsed
# description: |
#   An invalid size or an unknown key of the workload stops the deployment later, and no other rule about memory can run
#   until it is fixed.
# custom:
#   id: memory/unreadable
#   severity: deny
#   fix: Write it as documented; sizes are numbers of bytes or such as 100KB, 2GB
#   fix_in_files: Write it as documented; etcd takes sizes as numbers of bytes
#   source: the documentation of etcd_memory_estimate
package headroom.rules.memory.unreadable

import data.headroom.clusters
import data.headroom.estimates
import data.headroom.releases.accepted_values
import data.headroom.releases.spelling
import data.headroom.result
import data.headroom.settings
import data.headroom.units

deny contains finding if some finding in result.findings("memory/unreadable", problems)

problems contains result.problem(profile, _about(profile.etcd, problem), text) if {
	some profile, problems in estimates.invalid
	some problem in problems
	not _reported_elsewhere(profile.etcd, problem)
	text := strings.replace_n(_as_written(profile.etcd), problem)
}

# The setting concerned, as its author spelled it.
_about(etcd, problem) := name if {
	[_, setting] := regex.find_all_string_submatch_n(`^settings\.(\w+) `, problem, 1)[0]
	name := etcd.names[setting]
} else := "etcd_workload"

problems contains result.problem(profile, "etcd_workload", text) if {
	some profile in clusters.profiles
	text := settings.malformed(profile.variables).etcd_workload
}

problems contains result.problem(profile, "etcd_memory_budget", text) if {
	some profile in clusters.profiles
	budget := profile.variables.etcd_memory_budget
	not budget in {null, ""}
	not units.parse_size(budget)
	text := sprintf("etcd_memory_budget is %v, which is not a valid size", [budget])
}

# Reported by version/unknown and version/end_of_life, by memory/gomemlimit_ignored and memory/gomemlimit_range, by flags/wrong_type, and by
# compaction/off.
_reported_elsewhere(etcd, _) if etcd.release == null

_reported_elsewhere(_, problem) if regex.match(`^settings\.gomemlimit (has no effect|\()`, problem)

_reported_elsewhere(etcd, problem) if {
	some entry in etcd.given
	accepted_values.refusal(etcd, entry)
	startswith(problem, sprintf("settings.%s ", [spelling.setting(etcd.release, entry.form, entry.spelling)]))
}

_reported_elsewhere(etcd, problem) if {
	startswith(problem, "settings.auto_compaction_retention ")
	settings.revisions_of_duration(etcd)
}

# Go takes more values than the model knows. memory/gogc_off reports the dangerous one.
_reported_elsewhere(etcd, problem) if {
	startswith(problem, "settings.gogc ")
	regex.match(`^(off|-?[0-9]+)$`, sprintf("%v", [etcd.settings.gogc]))
	etcd.format
}

# The model's names for settings → the user's.
_as_written(etcd) := object.union(
	{sprintf("settings.%s", [setting]): name | some setting, name in etcd.names},
	{"workload.": "etcd_workload."},
)
