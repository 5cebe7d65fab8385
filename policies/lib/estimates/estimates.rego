# METADATA
# title: Memory estimates of profiles
# description: Applies the memory model to the profiles of headroom.clusters.
package headroom.estimates

import data.headroom.arithmetic
import data.headroom.clusters
import data.headroom.memory
import data.headroom.memory.parse
import data.headroom.minimal_plan
import data.headroom.model
import data.headroom.settings as member_settings

# The settings that a member will run with: those that are pinned, then the plan's minimum or, without a plan, the release's defaults.
_settings(profile) := minimal_plan.settings(
	profile.etcd.release,
	profile.etcd.workload,
	model_settings(profile.etcd.settings),
	profile.members,
) if {
	profile.etcd.planned
} else := model_settings(profile.etcd.settings)

_workload(profile, settings) := minimal_plan.planned_workload(
	profile.etcd.release,
	profile.etcd.workload,
	model_settings(profile.etcd.settings),
	object.filter(settings, {"auto_compaction_mode", "auto_compaction_retention"}),
) if {
	profile.etcd.planned
} else := profile.etcd.workload

# The settings that the model takes into account.
model_settings(settings) := object.filter(settings, object.keys(model.estimate_settings))

_is_known(profile) if {
	count(profile.unknown) == 0
	count(member_settings.malformed(profile.variables)) == 0
}

# Profiles with their `estimate` and the `settings` behind it, if nothing about them is unknown and they have a memory limit.
profiles := {object.union(profile, {"settings": settings, "estimate": estimate}) |
	some profile in clusters.profiles
	_is_known(profile)
	profile.etcd.limit.bytes
	settings := _settings(profile)
	estimate := memory.estimate(profile.etcd.release, _workload(profile, settings), settings, profile.members)
}

# Profile → why the model rejects its input.
invalid := {profile: problems |
	some profile in clusters.profiles
	_is_known(profile)
	problems := parse.problems(profile.etcd.release, profile.etcd.workload, model_settings(profile.etcd.settings), profile.members)
	count(problems) > 0
}

# The assumptions of an estimate.
assumption(profile) := "even with the minimal plan" if {
	profile.etcd.planned
	count(model_settings(profile.etcd.settings)) == 0
} else := "with the pinned settings and the minimal plan for the rest" if {
	profile.etcd.planned
} else := "with the settings given, etcd's defaults for the rest, and a modest workload where none is set"

# Whether the input has no workload, as in other roles' inventories and in files that configure etcd directly.
assumes_workload(profile) if {
	count(profile.etcd.workload) == 0
	not member_settings.shows_everything(profile.etcd)
} else := false

# Whether any estimate may rest on an assumed workload. Rules ask this first, so that a query for warnings alone skips the memory model.
assume_a_workload if {
	some profile in clusters.profiles
	assumes_workload(profile)
}

# Only replaying the raft log at a restart exceeds the limit. An estimate has the larger figure of the two states, so the one for the running
# member is computed here.
fails_only_at_restart(profile) if {
	estimate := profile.estimate
	estimate.memory_max_least > profile.etcd.limit.bytes
	estimate.restart_rss_anon_peak > estimate.rss_anon_peak
	running := estimate.rss_anon_peak + estimate.outside_go
	arithmetic.scale_up(running, 1000, model.constants[estimate.series].memory_high) <= profile.etcd.limit.bytes
}
