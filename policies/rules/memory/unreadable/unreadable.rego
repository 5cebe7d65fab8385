# METADATA
# title: The workload and the settings can be parsed
# description: |
#   An invalid size, an unknown key of the workload, or memory limits that contradict each other stop the deployment
#   later, and no other rule about memory can run until an invalid value is fixed. etcd takes a quota in bytes: with 8 or
#   8192, meant as GiB or MiB, it refuses every write.
# custom:
#   id: memory/unreadable
#   severity: deny
#   fix: Write it as documented; sizes are numbers of bytes or such as 100KB, 2GB; memory_high is below memory_max, memory_max at most the budget, and the budget at least 64MB
#   fix_in_files: Write it as documented; etcd takes sizes as numbers of bytes
#   source: the documentation of etcd_memory_estimate
package headroom.rules.memory.unreadable

import data.headroom.clusters
import data.headroom.estimates
import data.headroom.memory.parse
import data.headroom.model
import data.headroom.releases.accepted_values
import data.headroom.releases.spelling
import data.headroom.result
import data.headroom.settings
import data.headroom.text as texts
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

problems contains result.problem(profile, "etcd_memory_budget", text) if {
	some profile in clusters.profiles
	profile.etcd.planned
	budget := units.parse_size(profile.variables.etcd_memory_budget)
	smallest := min({rules.budget_min | some rules in model.plan})
	budget < smallest
	[given, minimum] := units.format_sizes_distinctly(budget, smallest)
	text := sprintf("etcd_memory_budget is %s, under the minimum of %s", [given, minimum])
}

# The plan refuses limits that contradict each other. memory/gomemlimit_range reports a GOMEMLIMIT over the limit, and the model a MemoryHigh over
# MemoryMax.
problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	profile.etcd.planned
	some setting in ["memory_max", "memory_high"]
	name := profile.etcd.names[setting]
	size := units.parse_size(profile.etcd.settings[setting])
	budget := units.parse_size(profile.variables.etcd_memory_budget)
	size > budget
	[given, available] := units.format_sizes_distinctly(size, budget)
	text := sprintf("%s (%s) is above etcd_memory_budget (%s)", [name, given, available])
}

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	profile.etcd.planned
	name := profile.etcd.names.memory_high
	units.parse_size(profile.etcd.settings.memory_high) == profile.etcd.limit.bytes
	limit := profile.etcd.limit
	text := sprintf("%s (%s) equals %s, which becomes MemoryMax, so it would never take effect", [name, units.format_size(limit.bytes), limit.name])
}

# Also of members without a known release, and of those with an unknown setting.
problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	_has_tiny_quota(profile.etcd)
	name := profile.etcd.names.quota_backend_bytes
	text := sprintf("%s is %s, so etcd refuses every write: the minimum is %s, and 8 GiB is 8589934592", [
		name,
		texts.value(profile.etcd.settings.quota_backend_bytes),
		units.format_size(_quota.smallest),
	])
}

_quota := model.estimate_settings.quota_backend_bytes

_has_tiny_quota(etcd) if parse.is_below_smallest(units.parse_size(etcd.settings.quota_backend_bytes), _quota)

_reported_elsewhere(etcd, problem) if {
	startswith(problem, "settings.quota_backend_bytes ")
	_has_tiny_quota(etcd)
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
