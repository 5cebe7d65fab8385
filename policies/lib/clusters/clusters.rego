# METADATA
# title: Clusters and their members
# description: |
#   The hosts of the etcd group, by cluster, and `profiles`: hosts whose etcd variables are all the same are one profile, so that a rule
#   judges each combination once, however many hosts share it.
package headroom.clusters

import data.headroom.arithmetic
import data.headroom.files
import data.headroom.inventory
import data.headroom.inventory.folder
import data.headroom.memory
import data.headroom.memory.parse
import data.headroom.minimal_plan
import data.headroom.model
import data.headroom.result
import data.headroom.told
import data.headroom.vocabulary
import data.headroom.vocabulary.read

# Inventory → the name of its group of members.
group := read.group

_hosts := {name: object.get(inventory.members, [name, group[name]], set()) | some name in inventory.names}

# Inventories in which no member can be seen.
without_members := {name | some name, hosts in _hosts; count(hosts) == 0}

_found := [{"key": key, "hosts": hosts} |
	some name, all_hosts in _hosts
	some bundle in inventory.bundles(name, (read.relevant[name] | {"etcd_cluster_name"}))
	hosts := bundle.hosts & all_hosts
	count(hosts) > 0
	key := {"inventory": name, "known": bundle.known, "unknown": bundle.unknown}
]

# The members by what they have of the variables that rules about etcd look at: [{inventory, hosts, known, unknown, cluster}], the last one
# null where it is not known or the other members are elsewhere. Everything else here goes by bundles, never by hosts.
_bundles := [object.union(key, {"hosts": hosts, "cluster": _cluster(key, hosts, group[key.inventory])}) |
	some key in {entry.key | some entry in _found}
	sets := {entry.hosts | some entry in _found; entry.key == key}
	hosts := union(sets)
]

_cluster(bundle, hosts, own_group) := [bundle.inventory, object.get(bundle.known, "etcd_cluster_name", own_group)] if {
	not bundle.unknown.etcd_cluster_name
	not _size_elsewhere(bundle.inventory, hosts)
} else := null

# Only in files that configure etcd themselves, where the hosts of a bundle are alike in all that their file says of a cluster.
_size_elsewhere(name, hosts) := max(sizes) if {
	name in files.recognised
	sizes := {size | some host in hosts; size := read.size_elsewhere(name, host)}
	count(sizes) > 0
}

# Members of which it is not known to which cluster they belong, with the reason.
without_cluster := [{"inventory": bundle.inventory, "hosts": bundle.hosts, "reason": reason} |
	some bundle in _bundles
	reason := bundle.unknown.etcd_cluster_name
]

# [inventory, cluster] → hosts. A member whose cluster is not known is in none.
members := {key: union(sets) |
	some key in {bundle.cluster | some bundle in _bundles; bundle.cluster != null}
	sets := {bundle.hosts | some bundle in _bundles; bundle.cluster == key}
}

# [inventory, host] → the member's own name, where it has another than its host.
names := {[name, host]: own |
	some name, all_hosts in _hosts
	"etcd_name" in object.keys(inventory.examples(name).known)
	some bundle in inventory.bundles(name, {"etcd_name"})
	own := vocabulary.name(bundle.known)
	some host in (bundle.hosts & all_hosts)
}

# of_cluster: the hosts of the bundle's cluster, none where that is not known.
_size(bundle, of_cluster) := count(of_cluster) if {
	count(of_cluster) > 0
} else := _size_elsewhere(bundle.inventory, bundle.hosts) if {
	_size_elsewhere(bundle.inventory, bundle.hosts)
} else := 1

# object.filter() goes through the larger of the two.
_only(variables, wanted) := object.filter(variables, object.keys(variables) & wanted)

_entries := [{"hosts": bundle.hosts, "cluster": bundle.cluster, "profile": profile} |
	some bundle in _bundles
	profile := {
		"inventory": bundle.inventory,
		"members": _size(bundle, object.get(members, [bundle.cluster], set())),
		"variables": object.remove(bundle.known, _no_setting[bundle.inventory]),
		"unknown": object.remove(bundle.unknown, _no_setting[bundle.inventory]),
	}
]

# Asked for beside the variables of a profile.
_no_setting := {name: others | some name, _ in _hosts; others := {"etcd_cluster_name"} - read.relevant[name]}

_profiles_of := {key: profiles_of_cluster |
	some key, _ in members
	profiles_of_cluster := {entry.profile | some entry in _entries; entry.cluster == key}
}

_mixed_entries := [object.union(entry, {"part": [entry.cluster, entry.profile]}) |
	some entry in _entries
	count(_profiles_of[entry.cluster]) > 1
]

# Clusters whose members do not all agree: [inventory, cluster] → parts, each {hosts, etcd}. Most clusters are not in here.
mixed := {key: parts |
	some key in {entry.cluster | some entry in _mixed_entries}
	parts := [{"hosts": _part_hosts[[key, profile]], "etcd": _etcd_of[profile]} | some profile in _profiles_of[key]]
}

_part_hosts := {part: union(sets) |
	some part in {entry.part | some entry in _mixed_entries}
	sets := {entry.hosts | some entry in _mixed_entries; entry.part == part}
}

# A group whose hosts cannot be seen is judged by its variables, as a member-to-be.
_future_entries := [entry |
	some name in without_members
	found := folder.future(name, group[name])
	variables := _only(found.known, read.relevant[name])
	count(variables) > 0
	entry := {
		"hosts": {sprintf("a member-to-be of group %q", [group[name]])},
		"profile": {
			"inventory": name,
			"members": 3,
			"variables": variables,
			"unknown": _only(found.unknown, read.relevant[name]),
		},
	}
]

_all_entries := array.concat(_entries, _future_entries)

_etcd_of := {profile: read.member(profile) |
	some profile in {entry.profile | some entry in _all_entries}
}

profiles := {object.union(key, {"hosts": union(sets), "etcd": etcd, "unknown": read.reasons(key)}) |
	some key, etcd in _etcd_of
	sets := {entry.hosts | some entry in _all_entries; entry.profile == key}
}

_place_entries := [{"hosts": hosts, "place": place} |
	some name, all_hosts in _hosts
	some bundle in inventory.bundles(name, read.relevant_place[name])
	hosts := bundle.hosts & all_hosts
	count(hosts) > 0
	place := {"inventory": name, "variables": bundle.known, "unknown": bundle.unknown}
]

# The same for what is said of the hosts themselves: {inventory, hosts, facts, names, unknown}. Kept apart, because these differ within a
# cluster where etcd's own settings do not, and estimates are dear.
places := {object.union({"inventory": key.inventory, "hosts": union(sets)}, read.place(key)) |
	some key in {entry.place | some entry in _place_entries}
	sets := {entry.hosts | some entry in _place_entries; entry.place == key}
}

# The settings that a member will run with, as far as the inventory decides: what is pinned; for the rest the least that the plan may
# choose where there is a workload to plan for, else the version's defaults.
_settings(profile) := minimal_plan.settings(
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
	problems := parse.problems(profile.etcd.version, profile.etcd.workload, estimated_settings(profile.etcd.settings), profile.members)
	count(problems) > 0
}

# What a finding says about the figures of a plan that is still to be made.
at_best(profile) := ", even with the least that the plan may choose" if {
	profile.etcd.planned
	count(estimated_settings(profile.etcd.settings)) == 0
} else := ", with what is pinned and the least that the plan may choose for the rest" if {
	profile.etcd.planned
} else := ", with what is set, etcd's defaults for the rest, and a modest workload where none is stated"

# Whether it is only the replay of the raft log at a restart that does not fit: running, the member has room. An estimate's `needed` is
# the larger of the two, so this reckons the running one in the same way.
fails_only_at_restart(profile) if {
	estimate := profile.estimate
	estimate.memory_max_least > profile.etcd.limit.bytes
	estimate.restart_rss_anon_peak > estimate.rss_anon_peak
	running := estimate.rss_anon_peak + estimate.outside_go
	arithmetic.scale_up(running, 1000, model.constants[estimate.series].memory_high) <= profile.etcd.limit.bytes
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
