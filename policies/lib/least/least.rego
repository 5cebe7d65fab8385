# METADATA
# title: The least that a plan may choose
# description: |
#   The settings with which a member needs the least memory, as the plan has them last on its ladder (plugins/module_utils/_plan_search.py):
#   where even these do not fit, the plan refuses the workload. What is pinned stays as it is.
package headroom.least

import data.headroom.memory
import data.headroom.memory.reading
import data.headroom.memory.units
import data.headroom.model

# settings: the pinned ones, by canonical name; limit: bytes.
settings(version, workload, pinned, members, limit) := object.union_n([
	{
		"snapshot_count": min(floors.snapshot_counts),
		"snapshot_catchup_entries": floors.catchup_floor[_how_many(members)],
	},
	_heap(version, series, pinned),
	_compaction(version, workload, pinned, members, limit),
	pinned,
]) if {
	series := memory.series(version)
	floors := model.plan[series]
}

# The quota that the plan would choose if it were free to.
quota(version, workload, pinned, members, limit) := _compaction(version, workload, free, members, limit).quota_backend_bytes if {
	free := object.remove(pinned, {"quota_backend_bytes"})
}

_how_many(members) := "several" if {
	members > 1
} else := "single"

# The lowest value that GOMEMLIMIT may have asks for the smallest heap; before it existed, the lowest GOGC does.
_heap(version, series, pinned) := {} if {
	pinned.gomemlimit
} else := {"gomemlimit": model.estimate_settings.gomemlimit.min} if {
	semver.compare(version, model.series[series].gomemlimit_since) >= 0
} else := {"gogc": min(model.plan[series].gogc_steps)}

# The longest retention whose database fits the quota and whose index fits its share of the memory, else the shortest.
_compaction(version, workload, pinned, members, limit) := {
	"auto_compaction_mode": mode,
	"auto_compaction_retention": chosen.retention,
	"quota_backend_bytes": _quota(series, chosen.size),
} if {
	series := memory.series(version)
	mode := object.get(pinned, "auto_compaction_mode", "periodic")
	candidates := [candidate |
		some retention in _retentions(series, mode, pinned)
		candidate := _trial(version, workload, pinned, members, limit, {"auto_compaction_mode": mode, "auto_compaction_retention": retention})
	]
	fitting := [candidate | some candidate in candidates; candidate.fits]
	chosen := array.concat(fitting, [candidates[count(candidates) - 1]])[0]
}

_retentions(series, mode, pinned) := [pinned.auto_compaction_retention] if {
	pinned.auto_compaction_retention
} else := [sprintf("%d", [number]) | some number in model.plan[series].revisions] if {
	mode == "revision"
} else := [sprintf("%ds", [seconds]) | some seconds in model.plan[series].retentions]

_trial(version, workload, pinned, members, limit, compaction) := {
	"retention": compaction.auto_compaction_retention,
	"size": estimate.db_size,
	"fits": _fits(model.plan[estimate.series], pinned, limit, estimate),
} if {
	given := object.union_n([pinned, compaction, {"quota_backend_bytes": -1}])
	estimate := memory.estimate(version, workload, given, members)
}

_fits(rules, pinned, limit, estimate) if {
	_within_quota(rules, pinned, estimate)
	_short_or_small(rules, limit, estimate)
	index := [part.high | some part in estimate.components; part.name == "index"][0]
	index <= units.permille(limit, rules.index_share)
} else := false

_within_quota(_, pinned, _) if memory.parse_count(pinned.quota_backend_bytes) < 0

_within_quota(_, pinned, estimate) if estimate.db_size <= memory.parse_size(pinned.quota_backend_bytes)

_within_quota(rules, pinned, estimate) if {
	_unset(pinned)
	units.permille(estimate.db_size, rules.quota_room) <= model.constants[estimate.series].quota_max
}

_unset(pinned) if not pinned.quota_backend_bytes

_unset(pinned) if pinned.quota_backend_bytes == 0

_short_or_small(_, _, estimate) if estimate.settings.auto_compaction_mode == "revision"

_short_or_small(_, limit, estimate) if estimate.db_size <= limit

_short_or_small(rules, _, estimate) if {
	settings := estimate.settings
	reading.retention_amount(settings.auto_compaction_mode, settings.auto_compaction_retention) <= rules.retention_enough
}

_quota(series, size) := min([max([roomy, model.constants[series].quota_default]), model.constants[series].quota_max]) if {
	rules := model.plan[series]
	roomy := units.divide_up(units.permille(size, rules.quota_room), rules.quota_step) * rules.quota_step
}
