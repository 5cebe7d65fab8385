# METADATA
# title: The database fits in memory next to the heap
# description: |
#   The database is mapped into memory. If it is larger than what the heap leaves, it is read from disk again and again,
#   and a thrashing member loses elections long before the kernel kills it. A plan accepts that if the workload needs such
#   a database. Therefore, up to 8 GiB the finding is a warning where no workload is set, and on a running member, whose
#   workload is only measured.
# custom:
#   id: memory/quota_over_memory
#   severity: deny
#   fix: Lower quota-backend-bytes, or let the plan choose it, or give more memory
#   fix_in_files: Lower quota-backend-bytes, or give more memory
#   source: model/memory.yml, and https://etcd.io/docs/v3.6/op-guide/hardware/#memory
package headroom.rules.memory.quota_over_memory

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.estimates
import data.headroom.minimal_plan
import data.headroom.model
import data.headroom.result
import data.headroom.settings
import data.headroom.units

deny contains finding if some finding in result.findings("memory/quota_over_memory", problems)

warn contains finding if some finding in result.assumed("memory/quota_over_memory", problems)

problems contains problem if {
	some profile in estimates.profiles
	_is_known(profile.etcd)
	quota := _bytes(profile.estimate.settings.quota_backend_bytes, profile)
	left := profile.etcd.limit.bytes - profile.estimate.rss_anon_peak
	quota > left
	_exceeds_plan(profile, quota)
	text := _text(quota, left, profile)
	about := object.get(profile.etcd.names, "quota_backend_bytes", profile.etcd.limit.name)
	problem := _with_basis(profile, quota, result.problem(profile, about, text))
}

_text(quota, left, profile) := sprintf("%s of %s is over the %s that a heap of %s leaves of %s (%s)", [
	_origin(profile.etcd),
	given,
	available,
	units.format_size(profile.estimate.rss_anon_peak),
	limit,
	profile.etcd.limit.name,
]) if {
	left > 0
	[given, available] := units.format_sizes_distinctly(quota, left)
	[_, limit] := units.format_sizes_distinctly(left, profile.etcd.limit.bytes)
} else := sprintf("%s of %s does not fit, because a heap of %s alone exceeds the limit of %s (%s)", [
	_origin(profile.etcd),
	units.format_size(quota),
	heap,
	limit,
	profile.etcd.limit.name,
]) if {
	[heap, limit] := units.format_sizes_distinctly(profile.estimate.rss_anon_peak, profile.etcd.limit.bytes)
}

_origin(etcd) := "a quota" if {
	etcd.names.quota_backend_bytes
} else := "etcd's default quota"

# Something unknown, such as a chart, may set another quota than the default.
_is_known(etcd) if etcd.names.quota_backend_bytes

_is_known(etcd) if settings.is_unset(etcd, "quota_backend_bytes")

# No plan sets a quota over this threshold, whatever the workload.
_with_basis(profile, quota, problem) := problem if {
	quota > threshold.quota_bytes
} else := result.warning_with_assumption(problem, estimates.assumption(profile)) if {
	not _has_workload(profile)
} else := result.warning_with_assumption(problem, text) if {
	estimates.measures_workload(profile)
	text := sprintf("and over the %s that a plan for the measured workload sets", [units.format_size(_planned_quota(profile))])
} else := problem

# Nothing can be estimated without a release or with GOGC=off, for example.
problems contains problem if {
	some profile in clusters.profiles
	not profile in _estimated
	settings.is_unplanned(profile.etcd)
	quota := units.parse_size(profile.etcd.settings.quota_backend_bytes)
	quota > profile.etcd.limit.bytes
	name := profile.etcd.names.quota_backend_bytes
	[given, limit] := units.format_sizes_distinctly(quota, profile.etcd.limit.bytes)
	text := sprintf("a quota of %s (%s) is over the whole limit of %s (%s)", [given, name, limit, profile.etcd.limit.name])
	problem := _unestimated(quota, result.problem(profile, name, text))
}

_unestimated(quota, problem) := problem if {
	quota > threshold.quota_bytes
} else := result.warning_with_assumption(problem, "which matters if the database grows that large")

_estimated := {object.remove(profile, {"settings", "estimate"}) | some profile in estimates.profiles}

# With a workload, the plan itself allows the quota that the expected database needs, and at least etcd's default. Only a larger
# quota is the user's choice.
_exceeds_plan(profile, _) if not _has_workload(profile)

_exceeds_plan(profile, quota) if {
	_has_workload(profile)
	profile.etcd.names.quota_backend_bytes
	quota > _planned_quota(profile)
}

_has_workload(profile) if profile.etcd.planned

_has_workload(profile) if count(profile.etcd.workload) > 0

_planned_quota(profile) := minimal_plan.quota(profile.etcd.release, profile.etcd.workload, pinned, profile.etcd.limit.bytes) if {
	pinned := estimates.model_settings(profile.etcd.settings)
}

_bytes(quota, _) := quota if quota > 0

_bytes(0, profile) := model.constants[profile.estimate.series].quota_default
