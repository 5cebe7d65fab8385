package headroom_test.minimal_plan

import data.headroom.minimal_plan

work := {"value_size": "10KB", "keys": 1000}

limit := 2147483648

settled := [
	["3.7.3", {}, 3, {"snapshot_count": 500, "snapshot_catchup_entries": 100, "gomemlimit": 16777216, "auto_compaction_mode": "periodic"}],
	["3.7.3", {}, 1, {"snapshot_catchup_entries": 1, "quota_backend_bytes": 2147483648}],
	["3.5.35", {"snapshot_count": 5000}, 3, {"snapshot_count": 5000}],
	["3.5.7", {}, 3, {"gogc": 25}],
	["3.7.3", {"gomemlimit": 1000000000}, 3, {"gomemlimit": 1000000000}],
	["3.7.3", {"auto_compaction_mode": "revision"}, 3, {"auto_compaction_mode": "revision", "auto_compaction_retention": "1000"}],
	["3.7.3", {"auto_compaction_retention": "7m"}, 3, {"auto_compaction_retention": "7m"}],
	["3.7.3", {"quota_backend_bytes": 2000000}, 3, {"auto_compaction_retention": "30s", "quota_backend_bytes": 2000000}],
	["3.7.3", {"quota_backend_bytes": -1}, 3, {"auto_compaction_retention": "30s"}],
	["3.7.3", {"quota_backend_bytes": 0}, 3, {"quota_backend_bytes": 0}],
]

test_settings[note] if {
	some [version, pinned, members, expected] in settled
	note := sprintf("%s %v %d", [version, pinned, members])
	found := minimal_plan.settings(version, work, pinned, members)
	object.subset(found, expected)
}

test_unknown_version if not minimal_plan.settings("1.2.3", work, {}, 3)

quotas := [
	[{"value_size": 1, "keys": 1, "puts_per_second": 1}, {"quota_backend_bytes": 1048576}, 2147483648],
	[{"value_size": 1, "keys": 1, "puts_per_second": 1}, {"auto_compaction_mode": "revision"}, 2147483648],
	[{"value_size": "1MB", "keys": 60000, "puts_per_second": 1000}, {}, 8589934592],
]

test_quota[note] if {
	some [workload, pinned, expected] in quotas
	note := sprintf("%v %v", [workload, pinned])
	minimal_plan.quota("3.7.3", workload, pinned, limit) == expected
}

# Old revisions of the workload, pinned settings, compaction → whether the compaction keeps more.
histories := [
	[null, {}, "1h", false],
	[100, {}, "1h", true],
	[100, {}, "30s", false],
	[100, {"auto_compaction_retention": "1h"}, "1h", false],
	[1, {"snapshot_count": 500}, "30s", true],
]

test_planned_workload[note] if {
	some [revisions, pinned, retention, expected] in histories
	note := sprintf("%v %v %s", [revisions, pinned, retention])
	workload := object.union(work, {"revisions_per_key": revisions})
	compaction := {"auto_compaction_mode": "periodic", "auto_compaction_retention": retention}
	found := minimal_plan.planned_workload("3.7.3", workload, pinned, compaction)
	found != workload == expected
}

test_quota_of_a_short_history if {
	writes := object.union(work, {"puts_per_second": 200})
	short := object.union(writes, {"revisions_per_key": 2})
	minimal_plan.quota("3.7.3", short, {}, 8589934592) == minimal_plan.quota("3.7.3", writes, {}, 8589934592)
}

# A history of more than five minutes has to fit into memory.
test_more_memory_allows_a_longer_history if {
	minimal_plan.quota("3.7.3", work, {}, 67108864) < minimal_plan.quota("3.7.3", work, {}, 1099511627776)
}
