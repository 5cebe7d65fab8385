package headroom.memory_test

import data.headroom.arithmetic
import data.headroom.memory
import data.headroom.memory.parse

# Python and Rego are compared over a thousand random inputs by tests/model; here are the figures that matter, and every branch.

_large := {
	"value_size": "100KB",
	"keys": 20000,
	"puts_per_second": 200,
	"clients": 200,
	"watch_streams": 400,
	"watchers": 5000,
	"range_size": "10MB",
}

# How many old revisions the database holds, derived from its size beyond the live keys.
_history(workload, settings) := (found.in_use - live.in_use) / (live.in_use / object.get(workload, "keys", 10000)) if {
	found := memory.database("3.7.3", workload, settings)
	live := memory.database("3.7.3", object.union(workload, {"puts_per_second": 0, "revisions_per_key": null}), {})
}

# Bounds in MB, wide enough for a calibration.
test_large_values[version] if {
	some version, wanted in {
		"3.5.35": {"entries": "5,000 to 105,001 entries", "low": 12000, "high": 24000},
		"3.6.16": {"entries": "5,101 entries", "low": 1000, "high": 1500},
		"3.7.3": {"entries": "5,101 entries", "low": 1000, "high": 1500},
	}
	settings := {"auto_compaction_retention": "30s", "quota_backend_bytes": "8GB"}
	figures := memory.estimate(version, _large, settings, 3)
	startswith(memory.raft_log_reason(figures), wanted.entries)
	figures.rss_anon_peak > wanted.low * 1000000
	figures.rss_anon_peak < wanted.high * 1000000
}

test_snapshot_count_bounds_steady_memory_on_3_5_only[version] if {
	some version, differs in {"3.5.35": true, "3.6.16": false, "3.7.3": false}
	low := memory.estimate(version, _large, {"snapshot_count": 1000}, 3)
	high := memory.estimate(version, _large, {"snapshot_count": 10000}, 3)
	high.rss_anon_peak > low.rss_anon_peak == differs
}

test_restart_replays_the_log_since_the_last_snapshot if {
	figures := memory.estimate("3.7.3", _large, {"snapshot_catchup_entries": 500}, 1)
	figures.restart_rss_anon_peak > 4 * figures.rss_anon_peak
}

test_defaults_are_the_versions_own if {
	figures := memory.estimate("3.5.35", {}, {"snapshot_count": 0}, 3)
	figures.settings.snapshot_count == 100000
	figures.settings.gogc == 100
}

test_watchers_of_a_shared_range_cost_less if {
	apart := memory.estimate("3.7.3", {"watchers": 10000}, {}, 1)
	shared := memory.estimate("3.7.3", {"watchers": 10000, "watched_ranges": 10}, {}, 1)
	shared.components.watches < apart.components.watches
	shared.heap_live < apart.heap_live
}

test_only_writers_have_puts_in_flight if {
	load := {"value_size": 100000, "puts_per_second": 1000, "clients": 50}
	all_put := memory.estimate("3.7.3", load, {}, 1)
	one_puts := memory.estimate("3.7.3", object.union(load, {"writers": 1}), {}, 1)
	one_puts.rss_anon_peak < all_put.rss_anon_peak
}

test_a_start_waits_beyond_the_first_chunk if {
	few := memory.estimate("3.7.3", {"keys": 10000, "puts_per_second": 0}, {}, 1)
	many := memory.estimate("3.7.3", {"keys": 15000, "puts_per_second": 0}, {}, 1)
	many.components.start_up > few.components.start_up + 3500000
}

test_connections_cost_less_with_tls if {
	secure := memory.estimate("3.7.3", {"clients": 10000}, {}, 1)
	plain := memory.estimate("3.7.3", {"clients": 10000, "tls": false}, {}, 1)
	secure.heap_live < plain.heap_live
}

test_gomemlimit_holds_the_heap_down if {
	free := memory.estimate("3.7.3", _large, {}, 3)
	held := memory.estimate("3.7.3", _large, {"gomemlimit": "1GB"}, 3)
	held.rss_anon_peak < free.rss_anon_peak
}

test_mlock_counts_the_database_in_full if {
	free := memory.estimate("3.7.3", _large, {}, 3)
	locked := memory.estimate("3.7.3", _large, {"memory_mlock": true}, 3)
	locked.outside_go > free.outside_go + 1900000000
}

test_history[name] if {
	some name, case in {
		"none without writes": {"settings": {}, "writes": 0, "history": 0},
		"all there is room for": {"settings": {"quota_backend_bytes": "1GB"}, "writes": 1, "history": 776048},
		"periodic": {"settings": {"auto_compaction_retention": "5m"}, "writes": 10, "history": 6300},
		"hours": {"settings": {"auto_compaction_retention": 2}, "writes": 1, "history": 11160},
		"revisions": {
			"settings": {"auto_compaction_mode": "revision", "auto_compaction_retention": "1000"},
			"writes": 10,
			"history": 4000,
		},
	}
	_history({"puts_per_second": case.writes}, case.settings) == case.history
}

test_a_compaction_writes_pages_again[name] if {
	some name, settings in {
		"periodic": {"auto_compaction_retention": "5m"},
		"revisions": {"auto_compaction_mode": "revision", "auto_compaction_retention": "1000"},
	}
	workload := {"value_size": "100KB", "keys": 20000, "puts_per_second": 20}
	found := memory.estimate("3.7.3", workload, object.union(settings, {"quota_backend_bytes": "8GB"}), 3)
	without := memory.estimate("3.7.3", workload, {"quota_backend_bytes": "8GB"}, 3)
	found.components.write_batch > without.components.write_batch + 15000000
}

test_history_given if {
	_history({"revisions_per_key": 5, "keys": 100}, {}) == 400
}

test_the_database_alone[version] if {
	some version in ["3.5.35", "3.7.3"]
	settings := {"auto_compaction_retention": "5m", "quota_backend_bytes": -1}
	found := memory.database(version, _large, settings)
	found.size > found.in_use
	found.index == memory.estimate(version, _large, settings, 3).components.index
	not memory.database("3.8.0", _large, settings)
}

test_size_classes if {
	arithmetic.size_class(1100) == 1152
	arithmetic.size_class(32768) == 32768
	arithmetic.size_class(100040) == 106496
}

test_problems[text] if {
	some text, case in {
		"3.8.0 is not a known etcd version: the known series are 3.5, 3.6, 3.7": {"version": "3.8.0"},
		"workload must be a map": {"workload": []},
		"workload.keys is 0, not a valid count between 1 and 10000000000": {"workload": {"keys": 0}},
		"workload.value_size is big, not a valid size between 0 and 536870912": {"workload": {"value_size": "big"}},
		"settings.memory_mlock is yes, not a valid flag": {"settings": {"memory_mlock": "yes", "gogc": 100}},
		"settings.auto_compaction_mode is hourly, not a valid mode": {"settings": {"auto_compaction_mode": "hourly"}},
		"settings.auto_compaction_retention is true, not a valid retention": {"settings": {"auto_compaction_retention": true}},
		"members is 0: a cluster has between 1 and 99 members": {"members": 0},
		"settings.gomemlimit has no effect on etcd 3.5.7: GOMEMLIMIT needs 3.5.8 or later": {
			"version": "3.5.7",
			"settings": {"gomemlimit": "1GB"},
		},
		"settings.gomemlimit (2.0 GiB) is above settings.memory_max (1.0 GiB)": {"settings": {
			"gomemlimit": "2GB",
			"memory_max": "1GB",
		}},
		"settings.auto_compaction_retention is 5m, which is not valid in revision mode": {"settings": {
			"auto_compaction_mode": "revision",
			"auto_compaction_retention": "5m",
		}},
		"settings.auto_compaction_retention is 5d, which is not valid in periodic mode": {"settings": {"auto_compaction_retention": "5d"}},
		"settings.auto_compaction_retention is 2562048, which is not valid in periodic mode: etcd takes at most 2,562,047 hours": {"settings": {"auto_compaction_retention": "2562048"}},
		"settings.auto_compaction_retention is 999999999h, which is not valid in periodic mode: etcd takes at most 2,562,047 hours": {"settings": {"auto_compaction_retention": "999999999h"}},
		"workload.value_size (2.0 MiB) makes a put larger than max_request_bytes (1.5 MiB): with keys of 64 B a value may have 1,572,770 bytes": {"workload": {"value_size": "2MB"}},
		"workload.key_size (100 B) makes every put larger than max_request_bytes (120 B)": {
			"workload": {"value_size": 0, "key_size": 100},
			"settings": {"max_request_bytes": 120},
		},
	}
	version := object.get(case, "version", "3.7.3")
	workload := object.get(case, "workload", {})
	settings := object.get(case, "settings", {})
	members := object.get(case, "members", 3)
	parse.problems(version, workload, settings, members) == {text}
	not memory.estimate(version, workload, settings, members)
}

test_the_longest_retention if {
	parse.retention_amount("periodic", "2562047h") == 2562047 * 3600
	parse.retention_amount("periodic", "2562047") == 2562047 * 3600
	parse.retention_amount("revision", "999999999") == 999999999
}

test_the_largest_value if {
	parse.problems("3.7.3", {"value_size": 1572770}, {}, 3) == set()
	count(parse.problems("3.7.3", {"value_size": 1572771}, {}, 3)) == 1
}

test_unknown_keys_name_the_known if {
	some text in parse.problems("3.7.3", {"value_sise": 1}, {}, 3)
	startswith(text, "workload has an unknown key 'value_sise'; known: clients, key_size, keys, ")
}
