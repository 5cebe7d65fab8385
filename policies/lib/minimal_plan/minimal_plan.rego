# METADATA
# title: The plan with the least memory
# description: |
#   The settings that plugins/module_utils/_plan/steps.py lists last. If even these do not fit, the plan refuses the workload. Pinned
#   settings stay.
package headroom.minimal_plan

import data.headroom.arithmetic
import data.headroom.formulas
import data.headroom.memory
import data.headroom.memory.parse
import data.headroom.model
import data.headroom.releases

# pinned: canonical name → value.
settings(version, workload, pinned, members) := object.union_n([
	{
		"snapshot_count": min(floors.snapshot_counts),
		"snapshot_catchup_entries": floors.catchup_floor[_cluster_size(members)],
	},
	_heap(version, series, pinned),
	_compaction(shortest),
	pinned,
]) if {
	series := releases.series(version)
	floors := model.plan[series]
	mode := _mode(pinned)
	candidates := _retentions(series, mode, pinned)
	shortest := _trial(version, workload, pinned, mode, candidates[count(candidates) - 1])
}

# The workload with the history that a retention of the plan leads to, if that is longer than the workload's own (revisions_per_key). With a pinned
# retention the workload's own history counts: something else may compact, as the API server of Kubernetes does.
planned_workload(version, workload, pinned, compaction) := computed if {
	not pinned.auto_compaction_retention
	object.get(workload, "revisions_per_key", null) != null
	computed := object.union(workload, {"revisions_per_key": null})
	constants := model.constants[releases.series(version)]
	full := parse.settings(version, object.union(pinned, compaction))
	longest := formulas.kept_revisions(constants, parse.workload(computed), full, 0)
	longest > formulas.kept_revisions(constants, parse.workload(workload), full, 0)
} else := workload

# The quota that the plan would choose without a pinned one, which is that of the longest viable history.
quota(version, workload, pinned, limit) := _compaction(chosen).quota_backend_bytes if {
	free := object.remove(pinned, {"quota_backend_bytes"})
	mode := _mode(free)
	trials := [trial |
		some retention in _retentions(releases.series(version), mode, free)
		trial := _trial(version, workload, free, mode, retention)
	]
	viable := [trial | some trial in trials; _is_viable(trial, limit)]
	chosen := array.concat(viable, [trials[count(trials) - 1]])[0]
}

_cluster_size(members) := "several" if {
	members > 1
} else := "single"

# The lowest GOMEMLIMIT gives the smallest heap; releases without it, and a pinned one, need the lowest GOGC.
_heap(version, series, pinned) := {"gomemlimit": model.estimate_settings.gomemlimit.min} if {
	not pinned.gomemlimit
	semver.compare(version, model.series[series].gomemlimit_since) >= 0
} else := {"gogc": min(model.plan[series].gogc_steps)}

_mode(pinned) := object.get(pinned, "auto_compaction_mode", "periodic")

_retentions(series, mode, pinned) := [pinned.auto_compaction_retention] if {
	pinned.auto_compaction_retention
} else := [sprintf("%d", [number]) | some number in model.plan[series].revisions] if {
	mode == "revision"
} else := [sprintf("%ds", [seconds]) | some seconds in model.plan[series].retentions]

# The database with this much history and no quota: {series, compaction, size, in_use, index}.
_trial(version, workload, pinned, mode, retention) := object.union(
	memory.database(
		version,
		planned_workload(version, workload, pinned, compaction),
		object.union(pinned, object.union(compaction, {"quota_backend_bytes": -1})),
	),
	{"series": releases.series(version), "compaction": compaction},
) if {
	compaction := {"auto_compaction_mode": mode, "auto_compaction_retention": sprintf("%v", [retention])}
}

_compaction(trial) := object.union(trial.compaction, {"quota_backend_bytes": _quota(trial.series, trial.size)})

# Short histories only need a quota with margin; longer ones also have to fit into memory.
_is_viable(trial, limit) if {
	rules := model.plan[trial.series]
	arithmetic.permille(trial.size, rules.quota_room) <= model.constants[trial.series].quota_max
	_is_short_or_fits(rules, trial, limit)
}

_is_short_or_fits(rules, trial, _) if {
	trial.compaction.auto_compaction_mode == "periodic"
	parse.retention_amount("periodic", trial.compaction.auto_compaction_retention) <= rules.retention_enough
}

_is_short_or_fits(rules, trial, limit) if {
	trial.size <= limit
	trial.index <= arithmetic.permille(limit, rules.index_share)
}

_quota(series, size) := formulas.quota_with_margin(constants, rules.quota_room, rules.quota_step, size, constants.quota_max) if {
	constants := model.constants[series]
	rules := model.plan[series]
}
