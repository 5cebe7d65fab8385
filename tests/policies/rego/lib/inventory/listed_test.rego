package headroom_test.inventory.listed

import data.headroom.inventory

document := {
	"_meta": {"hostvars": {"n1": {"v": 1, "w": "{{ x }}"}, "n3": {}}},
	"all": {"children": ["ungrouped", "up"]},
	"up": {"children": ["etcd", "empty"]},
	"etcd": {"hosts": ["n1", "n2"]},
	"ungrouped": {"hosts": ["n3"]},
}

expected_hosts := {"n1": {"v": 1}, "n2": {}, "n3": {}}

test_one_document if {
	inventory.hosts == expected_hosts with input as document
	inventory.inventories["-"].groups == {
		"all": {"n1", "n2", "n3"}, "up": {"n1", "n2"}, "etcd": {"n1", "n2"},
		"empty": set(), "ungrouped": {"n3"},
	} with input as document
	inventory.unknown == {"n1": {"w": "a template"}} with input as document
}

test_combined if {
	inventory.hosts == expected_hosts with input as [{"path": "listed.json", "contents": document}]
}
