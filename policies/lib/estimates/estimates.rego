# METADATA
# title: Memory estimates of profiles
# description: Applies the memory model to the profiles of headroom.clusters.
package headroom.estimates

import data.headroom.arithmetic
import data.headroom.clusters
import data.headroom.formulas
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
	not member_settings.proves_unset(profile.etcd)
} else := false

# Whether the workload is that of a running member, which may grow.
measures_workload(profile) if profile.etcd.format == "running member"

# Whether any estimate may rest on an assumed workload. Rules ask this first, so that a query for warnings alone skips the memory model.
assume_a_workload if {
	some profile in clusters.profiles
	assumes_workload(profile)
}

# Whether a profile needs more than its limit. With a plan this is decided as plugins/module_utils/_plan/search.py does.
exceeds(profile) if {
	profile.etcd.planned
	profile.estimate.restart_rss_anon_peak + profile.estimate.outside_go > _memory_high(profile)
}

exceeds(profile) if {
	not profile.etcd.planned
	profile.estimate.memory_max_least > profile.etcd.limit.bytes
}

# The running member fits, but a restart that replays the raft log does not. If the replayed log is at most as long as the one in memory, the log is
# not the cause, because each start takes a little more memory. An estimate has only the larger figure of both, so that of the running member is
# computed here.
fails_only_at_restart(profile) if {
	exceeds(profile)
	estimate := profile.estimate
	estimate.settings.snapshot_count > estimate.settings.snapshot_catchup_entries
	estimate.restart_rss_anon_peak > estimate.rss_anon_peak
	estimate.rss_anon_peak + estimate.outside_go <= _memory_high(profile)
}

# The plan sets MemoryHigh in whole MiB, unless it is pinned. Without a plan the same share of the limit counts.
_memory_high(profile) := profile.estimate.settings.memory_high if {
	_pins_memory_high(profile)
} else := arithmetic.divide_down(share, _mib) * _mib if {
	profile.etcd.planned
	share := _share(profile)
} else := _share(profile)

_pins_memory_high(profile) if {
	profile.etcd.planned
	profile.estimate.settings.memory_high != null
}

_mib := 1048576

# permille() rounds up; this share is rounded down.
_share(profile) := (arithmetic.divide_down(limit, 1000) * factor) + arithmetic.divide_down((limit % 1000) * factor, 1000) if {
	limit := profile.etcd.limit.bytes
	factor := model.constants[profile.estimate.series].memory_high
}

# {bytes, limit, name}: what a profile that exceeds its limit needs, and the limit that is too low.
shortage(profile) := {"bytes": needed, "limit": profile.estimate.settings.memory_high, "name": profile.etcd.names.memory_high} if {
	_pins_memory_high(profile)
	needed := profile.estimate.restart_rss_anon_peak + profile.estimate.outside_go
} else := {"bytes": needed, "limit": profile.etcd.limit.bytes, "name": profile.etcd.limit.name} if {
	profile.etcd.planned
	size := profile.estimate.restart_rss_anon_peak + profile.estimate.outside_go
	needed := formulas.memory_max(model.constants[profile.estimate.series], arithmetic.divide_up(size, _mib) * _mib)
} else := {"bytes": profile.estimate.memory_max_least, "limit": profile.etcd.limit.bytes, "name": profile.etcd.limit.name}
