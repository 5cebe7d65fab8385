package headroom_test.inventory.folder

import data.headroom.inventory
import data.headroom.inventory.folder

# tests/policies/test_resolver.py compares with Ansible itself; these cases cover each rule by name.
_entries(files) := [{"path": path, "contents": contents} | some path, contents in files]

seen[name] := found if {
	some name, files in cases
	found := inventory.inventories.inv with input as _entries(files)
}

cases := {
	"layers": {
		"inv/hosts.yml": {
			"all": {"vars": {"a": "all in file", "b": "all in file", "c": "all in file"}},
			"etcd": {"hosts": {"n1": {"e": "host"}, "n2": null}, "vars": {"a": "group in file", "b": "group in file", "e": "group in file"}},
		},
		"inv/group_vars/all.yml": {"b": "group_vars of all", "d": "group_vars of all", "e": "group_vars of all"},
		"inv/group_vars/etcd/z.yml": {"d": "last file"},
		"inv/group_vars/etcd/a/b.yml": {"d": "first file", "f": "first file"},
		"inv/group_vars/etcd/a.d/b.yml": {"f": "not read"},
		"inv/group_vars/etcd/.a.yml": {"f": "not read"},
		"inv/group_vars/etcd/plain": {"g": "file without an ending"},
		"inv/group_vars/etcd/plain.txt": {"f": "not read"},
		"inv/group_vars/etcd.yml": {"g": "hidden by the folder"},
		"inv/host_vars/n2.json": {"h": "host_vars"},
	},
	"files in order": {
		"inv/b.yml": {"etcd": {"vars": {"v": "b", "w": "b"}, "hosts": {"n1": {"x": "b"}}}},
		"inv/a.yml": {"etcd": {"vars": {"v": "a"}, "hosts": {"n1": {"x": "a", "y": "a"}}}},
		"inv/c.yml.bak": {"etcd": {"vars": {"v": "not read"}}},
		"inv/.c.yml": {"etcd": {"vars": {"v": "not read"}}},
		"inv/x/group_vars/all.yml": {"v": "not read"},
	},
	"deep": {"inv/hosts.yml": {"a": {"children": {"b": {"children": {"c": {"children": {"d": {
		"children": {"e": {
			"children": {"f": {"hosts": "n1", "vars": "flag"}, "g": null},
			"vars": {"v": "e"},
		}},
		"x": {"hosts": "n1", "vars": {"v": "x"}},
	}}}}}}}}},
	"one name": {"inv/hosts.yml": {"etcd": {"hosts": "n1", "children": "leaf"}, "leaf": {"hosts": "n2"}, "skipped": "no mapping"}},
	"priority": {
		"inv/hosts.yml": {
			"a": {"hosts": "n1", "vars": {"v": "a", "ansible_group_priority": "5"}},
			"b": {"hosts": "n1", "vars": {"v": "b"}},
		},
		"inv/last.yml": {"c": {"hosts": "n1", "vars": {"v": "c", "w": "c", "ansible_group_priority": 2}}},
	},
	"two priorities": {"inv/hosts.yml": {
		"a": {"hosts": "n1", "vars": {"v": "a", "ansible_group_priority": 5}},
		"b": {"hosts": "n1", "vars": {"v": "b"}, "children": {"a": {"vars": {"ansible_group_priority": 7}}}},
	}},
	"ungrouped": {"inv/hosts.yml": {
		"all": {"hosts": {"n1": null}},
		"ungrouped": {"hosts": {"n1": null, "n2": null, "n3": null}, "vars": {"v": "ungrouped"}},
		"etcd": {"hosts": {"n2": null}},
	}},
	"ports": {
		"inv/a.yml": {"all": {"hosts": {"n1:22": null, "n2:22": {"ansible_port": 3}, "n3": null, "n4": null, "n5:0": null}}},
		"inv/b.yml": {"all": {"hosts": {"n3:22": null}}, "etcd": {"hosts": {"n1:23": null}}},
		"inv/c.yml": {"all": {"hosts": {"n6": null, "n7:7": null}, "children": {"etcd": {"hosts": {"n6:22": null}}}}},
	},
	"the group that kubespray makes": {
		"inv/hosts.yml": {
			"kube_control_plane": {"hosts": {"n1": null}},
			"etcd": {"children": {"kube_control_plane": null}, "hosts": {"n2": null}},
			"kube_node": {"hosts": {"n3": null}},
			"zone": {"hosts": {"n1": null}},
		},
		"inv/group_vars/all.yml": {"u": "all", "v": "all", "w": "all"},
		"inv/group_vars/etcd.yml": {"v": "etcd"},
		"inv/group_vars/k8s_cluster/k8s-cluster.yml": {"v": "k8s_cluster", "w": "k8s_cluster", "x": "k8s_cluster", "y": "k8s_cluster"},
		"inv/group_vars/kube_control_plane.yml": {"x": "kube_control_plane"},
		"inv/group_vars/kube_node.yml": {"x": "kube_node"},
		"inv/group_vars/zone.yml": {"y": "zone"},
	},
	"one name for a host and a group": {"inv/hosts.yml": {
		"etcd": {"hosts": {"db": {"v": 1}, "n1": null}},
		"db": {"hosts": {"n1": null}, "vars": {"w": 1}},
	}},
}

# With group_by, as kubespray does it, ansible-core 2.19 gives the same values.
test_group_of_kubespray if {
	found := seen["the group that kubespray makes"]
	found.hosts == {
		"n1": {"u": "all", "v": "k8s_cluster", "w": "k8s_cluster", "x": "kube_control_plane", "y": "zone"},
		"n2": {"u": "all", "v": "etcd", "w": "all"},
		"n3": {"u": "all", "v": "k8s_cluster", "w": "k8s_cluster", "x": "kube_node", "y": "k8s_cluster"},
	}
	found.groups.k8s_cluster == {"n1", "n3"}
}

test_layers if {
	seen.layers.hosts == {
		"n1": {
			"a": "group in file", "b": "group_vars of all", "c": "all in file",
			"d": "last file", "e": "host", "f": "first file", "g": "file without an ending",
		},
		"n2": {
			"a": "group in file", "b": "group_vars of all", "c": "all in file",
			"d": "last file", "e": "group_vars of all", "f": "first file", "g": "file without an ending", "h": "host_vars",
		},
	}
	seen.layers.groups == {"all": {"n1", "n2"}, "etcd": {"n1", "n2"}, "ungrouped": set()}
}

test_files_in_order if seen["files in order"].hosts.n1 == {"v": "b", "w": "b", "x": "b", "y": "a"}

test_the_deepest_group_wins if {
	seen.deep.hosts.n1 == {"v": "e", "flag": null}
	seen.deep.groups.b == {"n1"}
	seen.deep.groups.g == set()
}

test_one_name if {
	seen["one name"].groups.etcd == {"n1", "n2"}
	not seen["one name"].groups.skipped
}

test_group_priority_beats_the_name if {
	seen.priority.hosts.n1 == {"v": "a", "w": "c"}
	seen["two priorities"].hosts.n1 == {}
	seen["two priorities"].unknown.n1 == {"v": "the priority of a group is given twice in one file"}
}

test_ungrouped if {
	seen.ungrouped.groups == {"all": {"n1", "n2", "n3"}, "etcd": {"n2"}, "ungrouped": {"n1", "n3"}}
	seen.ungrouped.hosts == {"n1": {"v": "ungrouped"}, "n2": {}, "n3": {"v": "ungrouped"}}
}

test_ports if {
	seen.ports.hosts == {
		"n1": {"ansible_port": 22}, "n2": {"ansible_port": 3}, "n3": {},
		"n4": {}, "n5": {}, "n6": {}, "n7": {"ansible_port": 7},
	}
	seen.ports.unknown == {"n6": {"ansible_port": "a host named twice in one file, with and without a port"}}
}

test_host_and_group if {
	found := seen["one name for a host and a group"]
	found.hosts == {"db": {}, "n1": {"w": 1}}
	object.keys(found.unknown) == {"db", "n1"}
}

# Below four levels without priorities only depth decides.
test_only_inventory if {
	files := {"a/hosts.yml": {"etcd": {"hosts": {"n1": {"v": 1}}}}, "a/group_vars/etcd.yml": {"w": "{{ x }}"}}
	inventory.hosts == {"n1": {"v": 1}} with input as _entries(files)
	inventory.groups.etcd == {"n1"} with input as _entries(files)
	inventory.unknown == {"n1": {"w": "a template"}} with input as _entries(files)
}

test_several_inventories if {
	files := {"a/hosts.yml": {"etcd": {"hosts": "n1"}}, "b/hosts.yml": {"etcd": {"hosts": "n2"}}}
	not inventory.hosts with input as _entries(files)
	object.keys(inventory.inventories) == {"a", "b"} with input as _entries(files)
}

test_files_at_the_root if {
	inventory.inventories["."].hosts == {"n1": {}} with input as _entries({"hosts.yml": {"etcd": {"hosts": "n1"}}})
}

# conftest passes the entries of one file in no fixed order. Ansible refuses two real documents.
test_several_documents_are_refused if {
	twice := [{"path": "inv/hosts.yml", "contents": null}, {"path": "inv/hosts.yml", "contents": {"etcd": {"hosts": "n1"}}}]
	inventory.hosts == {"n1": {}} with input as twice
	two := array.concat(twice, [{"path": "inv/hosts.yml", "contents": {"b": null}}, {"path": "inv/a.yml", "contents": null}])
	inventory.inventories.inv.opaque == {"inv/hosts.yml": "a list or several documents, which Ansible refuses"} with input as two
	inventory.inventories.inv.hosts == {} with input as two
}

test_unreadable_files_are_named if {
	files := {
		"inv/hosts.yml": {"etcd": {"hosts": "n1"}},
		"inv/dynamic.yml": {"plugin": "constructed"},
		"inv/not.yml": {"plugin": null},
		"inv/hosts.toml": {"etcd": {}},
		"inv/list.yml": "text",
		"inv/group_vars/etcd.yml": "$ANSIBLE_VAULT;1.1;AES256",
	}
	inventory.inventories.inv.opaque == {
		"inv/dynamic.yml": "a dynamic inventory",
		"inv/hosts.toml": "not an inventory in YAML or JSON",
		"inv/list.yml": "not a mapping, which Ansible refuses",
		"inv/group_vars/etcd.yml": "encrypted as a whole",
	} with input as _entries(files)
}

# The limit holds for all patterns together, in one file or in several.
test_many_patterns if {
	files := {
		"inv/hosts.yml": {"etcd": {"hosts": {"n[1:3]": null, "lone": null, "one:22": null}}},
		"inv/more.yml": {"web": {"hosts": {"n[1:3:2]": null}}},
	}
	fits := inventory.inventories.inv with input as _entries(files) with data.headroom.inventory.patterns.most_hosts as 5
	fits.refused == {}
	object.keys(fits.hosts) == {"n1", "n2", "n3", "lone", "one"}
	text := "the host patterns of this run name 8 hosts, more than 5: none of them is resolved. Name fewer hosts, or lint fewer inventories at a time"
	over := object.union(files, {"inv/more.yml": {"web": {"hosts": {"n[1:3]": null}}}})
	found := inventory.inventories.inv with input as _entries(over) with data.headroom.inventory.patterns.most_hosts as 5
	found.refused == {"inv/hosts.yml": {text}, "inv/more.yml": {text}}
	object.keys(found.hosts) == {"lone", "one"}
}

test_malformed_groups_are_refused_with_the_reason if {
	files := {"inv/hosts.yml": {
		"a": {"hosts": ["n1"], "vars": 5},
		"b": {"hosts": {"n[1": null, "n9": 5, "n8": [], "n7": false}, "children": {"c": 5}},
	}}
	inventory.inventories.inv.refused == {"inv/hosts.yml": {
		`"hosts" of group "a" is neither a mapping nor a name`,
		`"vars" of group "a" is neither a mapping nor a name`,
		`the host pattern "n[1" cannot be resolved`,
		`the variables of host "n9" are not a mapping`,
		`group "c" is not a mapping`,
	}} with input as _entries(files)
}

# Ansible refuses a group that contains itself; here the evaluation must end.
test_cycle if {
	files := {"inv/hosts.yml": {"a": {"children": {"b": {"children": {"a": null}}}, "hosts": "n1"}}}
	inventory.inventories.inv.groups.b == {"n1"} with input as _entries(files)
	inventory.inventories.inv.refused == {"inv/hosts.yml": {`group "a" contains itself`, `group "b" contains itself`}} with input as _entries(files)
}

# Above the limit of ancestors the variables of a group are unknown.
test_too_many_ancestors_make_variables_unknown if {
	above := {sprintf("a%d", [number]): {"children": {"below": null}} | some number in numbers.range(1, 51)}
	files := {"inv/hosts.yml": object.union(above, {
		"a1": {"vars": {"w": 1}, "children": {"below": null}},
		"below": {"hosts": "n1", "vars": {"v": 1}},
	})}
	found := inventory.inventories.inv with input as _entries(files)
	found.hosts.n1 == {"w": 1}
	found.unknown.n1 == {"v": "a group with more than 50 others above it"}
	found.groups.a1 == {"n1"}
}

# Own variables from a port in the name, or from a group of the same name.
test_bundles if {
	files := {
		"inv/hosts.yml": {"etcd": {"hosts": {"n1:22": null, "n2": {"v": 1}, "n3": null, "n4": null}}, "n4": {"hosts": "n3"}},
		"inv/host_vars/n3.yml": {"w": 1},
		"inv/group_vars/etcd.yml": {"v": 2, "w": 2, "x": 2},
	}
	found := inventory.bundles("inv", {"v", "w", "ansible_port"}) with input as _entries(files)
	{host: bundle.known | some bundle in found; some host in bundle.hosts} == {
		"n1": {"ansible_port": 22, "v": 2, "w": 2},
		"n2": {"v": 1, "w": 2},
		"n3": {"v": 2, "w": 1},
		"n4": {"v": 2, "w": 2},
	}
}

# Files without an ending and backups are not read.
test_files_in_a_folder if {
	files := {
		"inv/hosts.yml": {"etcd": {"hosts": "n1"}},
		"inv/host_vars/n1/a.yml": {"v": 1},
		"inv/host_vars/n1/b.toml": {"v": 2},
		"inv/host_vars/n1/c.yml~": {"v": 3},
		"inv/host_vars/n1/.d.yml": {"v": 4},
		"inv/host_vars/n1.yml": {"v": 5},
		"inv/host_vars/n2.yml/a.yml": {"v": 6},
	}
	inventory.hosts.n1 == {"v": 1} with input as _entries(files)
}

test_origin if {
	folder.origin("inv", "n2", "h") == "inv/host_vars/n2.json" with input as _entries(cases.layers)
	folder.origin("inv", "n2", "d") == "inv/group_vars/etcd/z.yml" with input as _entries(cases.layers)
	not folder.origin("inv", "n2", "nothing") with input as _entries(cases.layers)
}
