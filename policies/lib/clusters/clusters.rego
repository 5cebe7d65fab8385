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
import data.headroom.memory.units
import data.headroom.model
import data.headroom.result
import data.headroom.told
import data.headroom.vocabulary
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

# [inventory, host] → the member's own name, where it has another than its host.
names := {[name, host]: own |
	some name, hosts in _hosts
	some host in hosts
	own := vocabulary.name(inventory.inventories[name].hosts[host])
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

_profile_of := {[entry.profile.inventory, entry.host]: entry.profile | some entry in _entries}

# Clusters whose members do not all agree: [inventory, cluster] → parts, each {hosts, etcd}. Most clusters are not in here.
mixed := {key: parts |
	some key, hosts in members
	found := {_profile_of[[key[0], host]] | some host in hosts}
	count(found) > 1
	parts := [{"hosts": part, "etcd": _etcd_of[profile]} |
		some profile in found
		part := {host | some host in hosts; _profile_of[[key[0], host]] == profile}
	]
}

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

_etcd_of := {profile: read.member(profile) |
	some profile in {entry.profile | some entry in _all_entries}
}

profiles := {object.union(key, {"hosts": hosts, "etcd": etcd, "unknown": read.reasons(key)}) |
	some key, etcd in _etcd_of
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

# Whether it is only the replay of the raft log at a restart that does not fit: running, the member has room. An estimate's `needed` is
# the larger of the two, so this reckons the running one in the same way.
fails_only_at_restart(profile) if {
	estimate := profile.estimate
	estimate.memory_max_recommended > profile.etcd.limit.bytes
	estimate.restart_rss_anon_peak > estimate.rss_anon_peak
	running := estimate.rss_anon_peak + estimate.beside_go
	units.scale_up(running, 1000, model.constants[estimate.series].memory_high) <= profile.etcd.limit.bytes
}

# The parts of a mixed cluster by what they have: "1,000 (a, b) and 5,000 (c)". values: {value, hosts} for each part whose value is known;
# undefined where they agree.
differing(values) := concat(" and ", sort(texts)) if {
	distinct := {entry.value | some entry in values}
	count(distinct) > 1
	texts := {sprintf("%s (%s)", [told.shown(value), result.names(hosts)]) |
		some value in distinct
		hosts := {host | some entry in values; entry.value == value; some host in entry.hosts}
	}
}
