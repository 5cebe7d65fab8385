# METADATA
# title: Clusters and their members
# description: |
#   The hosts of the etcd group by cluster. A bundle is a set of hosts with equal values of the variables that rules read. Members with
#   equal settings form one profile, so a rule checks each combination once, however many hosts share it.
package headroom.clusters

import data.headroom.formats
import data.headroom.inventory
import data.headroom.inventory.folder
import data.headroom.releases
import data.headroom.settings
import data.headroom.settings.dispatch
import data.headroom.text

# Inventory → the name of its group of members.
group := dispatch.group

_hosts := {name: object.get(inventory.members, [name, group[name]], set()) | some name in inventory.names}

# Inventories without visible members.
without_members := {name | some name, hosts in _hosts; count(hosts) == 0}

# The three lines that group entries by a key are repeated below. In a function they would take time that is quadratic in the number of entries, because
# OPA indexes a comprehension over a rule, but not over an argument.
_member_entries := [{"key": key, "hosts": hosts} |
	some name, all_hosts in _hosts
	some bundle in inventory.bundles(name, (dispatch.member_variables[name] | {"etcd_cluster_name"}))
	hosts := bundle.hosts & all_hosts
	count(hosts) > 0
	key := {"inventory": name, "known": bundle.known, "unknown": bundle.unknown}
]

# Members grouped by the variables that rules about members read: [{inventory, hosts, known, unknown, cluster}]. `cluster` is null if it is
# unknown or has members elsewhere. The rest of this file works on bundles, because there are fewer of them than hosts.
_bundles := [object.union(key, {"hosts": hosts, "cluster": _cluster(key, hosts, group[key.inventory])}) |
	some key in {entry.key | some entry in _member_entries}
	sets := {entry.hosts | some entry in _member_entries; entry.key == key}
	hosts := union(sets)
]

_cluster(bundle, hosts, own_group) := [bundle.inventory, object.get(bundle.known, "etcd_cluster_name", own_group)] if {
	not bundle.unknown.etcd_cluster_name
	not _size_elsewhere(bundle.inventory, hosts)
	not bundle.inventory in _of_templates
} else := null

# A template's placeholder may become any number of hosts.
_of_templates := {name |
	some name, hosts in _hosts
	some host in hosts
	text.is_template(host)
}

# The number of members that a file which configures etcd directly states. All hosts of its bundle state the same.
_size_elsewhere(name, hosts) := max(sizes) if {
	name in formats.paths
	sizes := {size | some host in hosts; size := dispatch.size_elsewhere(name, host)}
	count(sizes) > 0
}

# Members whose file lists a cluster that has its other members elsewhere: {inventory, hosts, size}.
_listed_elsewhere := [{"inventory": bundle.inventory, "hosts": bundle.hosts, "size": size} |
	some bundle in _bundles
	bundle.cluster == null
	some host in bundle.hosts
	size := dispatch.listed_members(bundle.inventory, host)
]

# Members whose cluster is unknown, with the reason.
without_cluster := [{"inventory": bundle.inventory, "hosts": bundle.hosts, "reason": reason} |
	some bundle in _bundles
	reason := bundle.unknown.etcd_cluster_name
]

# [inventory, cluster] → hosts.
members := {key: union(sets) |
	some key in {bundle.cluster | some bundle in _bundles; bundle.cluster != null}
	sets := {bundle.hosts | some bundle in _bundles; bundle.cluster == key}
}

# [inventory, host] → the member's name, if it differs from the host's.
names := {[name, host]: own |
	some name, all_hosts in _hosts
	variable := name_variable(name)
	variable in object.keys(inventory.examples(name).known)
	some bundle in inventory.bundles(name, {variable})
	own := sprintf("%v", [bundle.known[variable]])
	bundle.known[variable] != null
	some host in (bundle.hosts & all_hosts)
}

# The variable of an inventory that names a member.
name_variable(name) := "etcd_member_name" if {
	dispatch.format[name] == "kubespray"
} else := "etcd_name"

# The number of members of a bundle's cluster. of_cluster: the visible hosts of the cluster, empty if the cluster is unknown.
_size(bundle, of_cluster) := count(of_cluster) if {
	count(of_cluster) > 0
} else := _size_elsewhere(bundle.inventory, bundle.hosts) if {
	_size_elsewhere(bundle.inventory, bundle.hosts)
} else := 1

# The intersection keeps the filter fast: see "Pitfalls of Rego" in docs/policies/adding.md.
_filter(variables, wanted) := object.filter(variables, object.keys(variables) & wanted)

_entries := [{"hosts": bundle.hosts, "cluster": bundle.cluster, "profile": profile} |
	some bundle in _bundles
	profile := {
		"inventory": bundle.inventory,
		"members": _size(bundle, object.get(members, [bundle.cluster], set())),
		"variables": object.remove(bundle.known, _identifying_variables[bundle.inventory]),
		"unknown": object.remove(bundle.unknown, _identifying_variables[bundle.inventory]),
	}
]

# Variables that identify a cluster but are not settings of its profiles.
_identifying_variables := {name: others | some name, _ in _hosts; others := {"etcd_cluster_name"} - dispatch.member_variables[name]}

_profiles_of := {key: profiles_of_cluster |
	some key, _ in members
	profiles_of_cluster := {entry.profile | some entry in _entries; entry.cluster == key}
}

_mixed_entries := [object.union(entry, {"part": [entry.cluster, entry.profile]}) |
	some entry in _entries
	count(_profiles_of[entry.cluster]) > 1
]

# Clusters whose members differ: [inventory, cluster] → parts, each {hosts, etcd} of members that agree.
mixed := {key: parts |
	some key in {entry.cluster | some entry in _mixed_entries}
	parts := [{"hosts": _part_hosts[[key, profile]], "etcd": _etcd_of[profile]} | some profile in _profiles_of[key]]
}

_part_hosts := {part: union(sets) |
	some part in {entry.part | some entry in _mixed_entries}
	sets := {entry.hosts | some entry in _mixed_entries; entry.part == part}
}

# A group without visible hosts is checked by its variables, as if a member were about to join.
_new_member_entries := [entry |
	some name in without_members
	found := folder.new_member(name, group[name])
	variables := _filter(found.known, dispatch.member_variables[name])
	count(variables) > 0
	entry := {
		"hosts": {sprintf("a future member of group %q", [group[name]])},
		"profile": {
			"inventory": name,
			"members": 3,
			"variables": variables,
			"unknown": _filter(found.unknown, dispatch.member_variables[name]),
		},
	}
]

_all_entries := array.concat(_entries, _new_member_entries)

# `release` is the key for the tables of the model.
_etcd_of := {profile: object.union(member, {"release": releases.nearest(member.version)}) |
	some profile in {entry.profile | some entry in _all_entries}
	member := dispatch.member(profile)
}

# {inventory, hosts, members, etcd, variables, unknown}: hosts with equal settings. For `etcd` see settings.headroom_roles.
profiles := {object.union(key, {"hosts": union(sets), "etcd": etcd, "unknown": dispatch.reasons(key)}) |
	some key, etcd in _etcd_of
	sets := {entry.hosts | some entry in _all_entries; entry.profile == key}
}

_host_entries := [{"hosts": hosts, "key": key} |
	some name, all_hosts in _hosts
	some bundle in inventory.bundles(name, dispatch.host_variables[name])
	hosts := bundle.hosts & all_hosts
	count(hosts) > 0
	key := {"inventory": name, "variables": bundle.known, "unknown": bundle.unknown}
]

# {inventory, hosts, facts, names, unknown}: hosts with equal facts. Separate from profiles, because hosts of one profile may differ here
# and estimates are expensive.
host_profiles := {object.union({"inventory": key.inventory, "hosts": union(sets)}, dispatch.host(key)) |
	some key in {entry.key | some entry in _host_entries}
	sets := {entry.hosts | some entry in _host_entries; entry.key == key}
}

# What a file states of a cluster that has its other members elsewhere: {inventory, hosts, size, name, statement}. It lists the members, or it is a
# StatefulSet whose script makes the list.
stated_elsewhere contains object.union(listed, {"name": name, "statement": statement}) if {
	some listed in _listed_elsewhere
	some profile in profiles
	profile.inventory == listed.inventory
	count(profile.hosts & listed.hosts) > 0
	[name, statement] := _size_stated(profile.etcd, listed.size)
}

_size_stated(etcd, size) := [name, sprintf("%s lists %d members", [name, size])] if {
	name := etcd.names.initial_cluster
} else := ["replicas", sprintf("replicas is %d", [size])]

# The differences within a mixed cluster as text, "1,000 (a, b) and 5,000 (c)". values: {value, hosts} for each part; undefined if all are
# equal.
differing(values) := concat(" and ", sort(texts)) if {
	distinct := {entry.value | some entry in values}
	count(distinct) > 1
	texts := {sprintf("%s (%s)", [text.value(value), text.hosts(hosts)]) |
		some value in distinct
		hosts := {host | some entry in values; entry.value == value; some host in entry.hosts}
	}
}

# The hosts of a profile that a defect may concern. auth: whether only members that use etcd's own users and roles have it, which an API server
# of Kubernetes does not use, nor a cluster with etcd_auth_enabled set to false.
concerned(profile, false) := profile.hosts

concerned(profile, true) := set() if {
	profile.etcd.kubernetes
} else := profile.hosts - object.get(_without_auth, [profile.inventory], set())

_without_auth := {name: union(sets) |
	some name in {found.inventory | some found in host_profiles}
	sets := {found.hosts | some found in host_profiles; found.inventory == name; settings.is_false(found.facts.auth)}
}
