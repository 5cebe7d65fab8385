# METADATA
# title: Cases as input
# description: Turns a case of a table into the input that conftest would hand over.
package headroom.testing.cases

import data.headroom.testing

# Each base: how many members it has, and the variables of their group.
bases := {
	# A workload and a budget are set, so a plan computes what is not pinned.
	"planned": {"members": 1, "vars": testing.healthy},
	# The same for three members of cluster "main".
	"three_members": {"members": 3, "vars": object.union(testing.healthy, {"etcd_cluster_name": "main"})},
	# No workload and no budget: etcd's own defaults apply.
	"unplanned": {"members": 1, "vars": {"etcd_version": "3.6.16", "etcd_tls_enabled": true}},
	# A role that Headroom does not know, which passes etcd's environment in a mapping.
	"environment": {"members": 1, "vars": {
		"etcd_version": "3.6.16",
		"etcd_environment": {"ETCD_INITIAL_CLUSTER_STATE": "existing"},
	}},
	# Hosts without variables.
	"bare": {"members": 1, "vars": {}},
	# Headroom's role with its defaults.
	"defaults": {"members": 1, "vars": {"etcd_tls_enabled": true}},
	# Only the files of the case.
	"none": {"members": 0, "vars": {}},
}

# The cases of one side ("bad" or "good"), by their notes. What the table says beside "bad" and "good" holds for each of its cases,
# except for those that name a base of their own.
resolved(table, side) := {note: _resolved(object.remove(table, ["bad", "good"]), case) | some note, case in table[side]}

_resolved(_, case) := case if case.base

_resolved(common, case) := object.union(common, case) if not case.base

# The input as conftest hands it over: an explicit input, or the files of an inventory.
document(case) := case.input

document(case) := array.concat(_inventory(case), _files(case)) if not "input" in object.keys(case)

_inventory(case) := [
	{"path": "inventory/group_vars/etcd.yml", "contents": object.union(base.vars, object.get(case, "vars", {}))},
	{"path": "inventory/hosts.yml", "contents": {"etcd": {"hosts": object.union(hosts, object.get(case, "hosts", {}))}}},
] if {
	base := bases[object.get(case, "base", "planned")]
	members := object.get(case, "members", base.members)
	members > 0
	hosts := {sprintf("etcd-%d", [number]): null | some number in numbers.range(1, members)}
} else := []

_files(case) := [{"path": path, "contents": contents} | some path, contents in object.get(case, "files", {})]
