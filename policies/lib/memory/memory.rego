# METADATA
# title: The memory that a member of etcd needs
# description: |
#   What plugins/module_utils/_model/estimate.py returns, as far as rules ask for it. The input is parsed by headroom.memory.parse, the
#   arithmetic is generated in headroom.formulas. Everything here is undefined for input that `parse.problems` explains.
package headroom.memory

import data.headroom.formulas
import data.headroom.memory.parse
import data.headroom.model
import data.headroom.releases
import data.headroom.units

# The components that are there all the time.
heap := {"base", "raft_log", "peers", "index", "watches", "connections", "leases", "requests", "write_batch", "freelist"}

# The components that are there only briefly.
spikes := {"range_answers", "watch_events"}

# What a member needs, in bytes, with the input that it was computed from.
estimate(version, given_workload, given_settings, members) := object.union(
	formulas.required(constants, workload, settings, members, db),
	{"series": series, "workload": workload, "settings": settings},
) if {
	count(parse.problems(version, given_workload, given_settings, members)) == 0
	series := releases.series(version)
	constants := model.constants[series]
	workload := parse.workload(given_workload)
	settings := parse.settings(version, given_settings)
	db := formulas.database(constants, workload, settings)
}

# The database of an estimate and its index, at a fraction of an estimate's cost.
database(version, given_workload, given_settings) := {
	"size": db.size,
	"in_use": db.in_use,
	"index": formulas.index(constants, workload, db.history),
} if {
	constants := model.constants[releases.series(version)]
	workload := parse.workload(given_workload)
	db := formulas.database(constants, workload, parse.settings(version, given_settings))
}

# The reason for the size of an estimate's raft log.
raft_log_reason(found) := sprintf("%s entries of %s, kept for slow followers: catch-up %s", [entries, put, catchup]) if {
	constants := model.constants[found.series]
	constants.raft_compacts_every > 0
	entries := units.format_count(formulas.raft_entries(constants, found.settings))
	put := units.format_size(formulas.put_size(found.workload))
	catchup := units.format_count(found.settings.snapshot_catchup_entries)
} else := sprintf("%s to %s entries of %s: catch-up %s and up to snapshot-count %s more", [
	catchup,
	units.format_count(formulas.raft_entries(model.constants[found.series], found.settings)),
	units.format_size(formulas.put_size(found.workload)),
	catchup,
	units.format_count(found.settings.snapshot_count),
]) if {
	catchup := units.format_count(found.settings.snapshot_catchup_entries)
}
