# METADATA
# title: Clusters and their members
# description: |
#   The hosts of the etcd group, by cluster, and `profiles`: hosts whose etcd variables are all the same are one profile, so that a rule
#   judges each combination once, however many hosts share it.
package headroom.clusters

import data.headroom.inventory
import data.headroom.inventory.folder
import data.headroom.least
import data.headroom.memory
import data.headroom.model
import data.headroom.vocabulary.read

# Inventory → the name of its group of members.
group := read.group

_hosts := {name: object.get(found.groups, group[name], set()) | some name, found in inventory.inventories}

# Inventories in which no member can be seen.
without_members := {name | some name, hosts in _hosts; count(hosts) == 0}

_cluster_of := {[name, host]: cluster |
	some name, hosts in _hosts
	some host in hosts
	cluster := object.get(inventory.inventories[name].hosts[host], "etcd_cluster_name", group[name])
	not inventory.inventories[name].unknown[host].etcd_cluster_name
	not read.size_elsewhere(name, host)
}

# [inventory, cluster] → hosts. A member whose cluster is not known is in none.
members := {key: hosts |
	some key in {[name, cluster] | some [name, _], cluster in _cluster_of}
	hosts := {host | some [name, host], cluster in _cluster_of; [name, cluster] == key}
}

_size(name, host) := size if {
	size := count(members[[name, _cluster_of[[name, host]]]])
} else := size if {
	size := read.size_elsewhere(name, host)
} else := 1

_entries := [entry |
	some name, hosts in _hosts
	some host in hosts
	found := inventory.inventories[name]
	entry := {
		"host": host,
		"profile": {
			"inventory": name,
			"members": _size(name, host),
			"variables": object.filter(found.hosts[host], read.relevant[name]),
			"unknown": object.filter(object.get(found.unknown, host, {}), read.relevant[name]),
		},
	}
]

# A group whose hosts cannot be seen is judged by its variables, as a member-to-be.
_future_entries := [entry |
	some name in without_members
	found := folder.future(name, group[name])
	variables := object.filter(found.known, read.relevant[name])
	count(variables) > 0
	entry := {
		"host": sprintf("a member-to-be of group %q", [group[name]]),
		"profile": {
			"inventory": name,
			"members": 3,
			"variables": variables,
			"unknown": object.filter(found.unknown, read.relevant[name]),
		},
	}
]

_all_entries := array.concat(_entries, _future_entries)

profiles := {object.union(key, {"hosts": hosts, "etcd": read.member(key), "unknown": read.reasons(key)}) |
	some key in {entry.profile | some entry in _all_entries}
	hosts := {entry.host | some entry in _all_entries; entry.profile == key}
}

_place_entries := [entry |
	some name, hosts in _hosts
	some host in hosts
	found := inventory.inventories[name]
	entry := {
		"host": host,
		"place": {
			"inventory": name,
			"variables": object.filter(found.hosts[host], read.relevant_place[name]),
			"unknown": object.filter(object.get(found.unknown, host, {}), read.relevant_place[name]),
		},
	}
]

# The same for what is said of the hosts themselves: {inventory, hosts, facts, names, unknown}. Kept apart, because these differ within a
# cluster where etcd's own settings do not, and estimates are dear.
places := {object.union({"inventory": key.inventory, "hosts": hosts}, read.place(key)) |
	some key in {entry.place | some entry in _place_entries}
	hosts := {entry.host | some entry in _place_entries; entry.place == key}
}

# The settings that a member will run with, as far as the inventory decides: what is pinned; for the rest the least that the plan may
# choose where there is a workload to plan for, else the version's defaults.
_settings(profile) := least.settings(
	profile.etcd.version,
	profile.etcd.workload,
	estimated_settings(profile.etcd.settings),
	profile.members,
) if {
	profile.etcd.planned
} else := estimated_settings(profile.etcd.settings)

# Those settings that the model of memory counts with.
estimated_settings(settings) := object.filter(settings, object.keys(model.estimate_settings))

# Profiles of which the model can say something, with what it says: those that are known whole and have a limit to compare with.
estimated := {object.union(profile, {"settings": settings, "estimate": estimate}) |
	some profile in profiles
	count(profile.unknown) == 0
	profile.etcd.limit.bytes
	settings := _settings(profile)
	estimate := memory.estimate(profile.etcd.version, profile.etcd.workload, settings, profile.members)
}

# Why the model can say nothing of a profile: input that cannot be.
unreadable := {profile: problems |
	some profile in profiles
	count(profile.unknown) == 0
	problems := memory.problems(profile.etcd.version, profile.etcd.workload, estimated_settings(profile.etcd.settings), profile.members)
	count(problems) > 0
}

# What a finding says about the figures of a plan that is still to be made.
at_best(profile) := ", even with the least that the plan may choose" if {
	profile.etcd.planned
	count(estimated_settings(profile.etcd.settings)) == 0
} else := ", with what is pinned and the least that the plan may choose for the rest" if {
	profile.etcd.planned
} else := ", with etcd's defaults and a modest workload where none is stated"
