package headroom_test.settings.headroom_roles

import data.headroom.clusters
import data.headroom.settings.headroom_roles
import data.headroom.testing

member(variables) := headroom_roles.member(object.union({"etcd_version": "3.7.3"}, variables), {})

test_given if {
	config := {
		"max-wals": 5,
		"client-transport-security": {"cert-file": "x"},
		"peer-transport-security": null,
		"other": {"a": 1},
	}
	{[entry.spelling, entry.value, entry.name] | some entry in member({"etcd_extra_config": config}).given} == {
		["max-wals", 5, `etcd_extra_config["max-wals"]`],
		["client-transport-security.cert-file", "x", `etcd_extra_config["client-transport-security"]["cert-file"]`],
		["peer-transport-security", null, `etcd_extra_config["peer-transport-security"]`],
		["other", {"a": 1}, `etcd_extra_config["other"]`],
	}
}

test_settings if {
	config := {"client-transport-security": {"cert-file": "x"}, "snapshot-count": 5}
	found := member({"etcd_extra_config": config, "etcd_quota_backend_bytes": "4GB", "etcd_gogc": null})
	found.settings == {"cert_file": "x", "snapshot_count": 5, "quota_backend_bytes": "4GB"}
	found.names == {
		"cert_file": `etcd_extra_config["client-transport-security"]["cert-file"]`,
		"snapshot_count": `etcd_extra_config["snapshot-count"]`,
		"quota_backend_bytes": "etcd_quota_backend_bytes",
	}
	found.twice == {}
}

# A key in two spellings is ambiguous, but not an error.
test_settings_in_two_spellings if {
	config := {"client-transport-security": {"cert-file": "x"}, "client-transport-security.cert-file": "y"}
	member({"etcd_extra_config": config}).settings.cert_file in {"x", "y"}
}

test_twice if {
	found := member({"etcd_snapshot_count": 5, "etcd_extra_config": {"snapshot-count": 6}})
	found.twice == {"snapshot_count": ["etcd_snapshot_count", `etcd_extra_config["snapshot-count"]`]}
}

test_unknown if {
	unknown := {"etcd_snapshot_count": "a template", "etcd_version": "a template", "etcd_extra_config": "a template inside"}
	headroom_roles.member({}, unknown).unknown == {"snapshot_count", "version", "extra_config"}
}

# As `-e` and INI files give a mapping.
test_texts_for_mappings if {
	found := member({"etcd_workload": `{"value_size": "3MB"}`, "etcd_extra_config": [1]})
	found.unknown == {"workload", "extra_config"}
	found.planned == false
	found.workload == {}
	found.given == []
	headroom_roles.host({"etcd_extra_config": "a"}, {}).unknown == {"extra_config"}
}

test_data_size if {
	member({}).data_size == null
	member({"etcd_storage_data_min_size": "4GB"}).data_size == 4294967296
	member({"etcd_storage_data_min_size": "big"}).data_size == null
}

test_place if {
	found := headroom_roles.host({"etcd_storage_data_device": "/dev/vdb"}, {"etcd_nice": "a template"})
	found.facts.data_device == "/dev/vdb"
	found.facts.wal_device == null
	found.names == {"data_device": "etcd_storage_data_device"}
	found.unknown == {"nice"}
}

# Variables → whether the plan computes what is not set. Headroom's role plans with its defaults, and nobody knows what another role does.
_planned[variables] := planned if {
	some variables in {
		{"etcd_storage_data_device": "/dev/vdb"},
		{"etcd_maintenance_backup_dir": "/b", "etcd_workload": null},
		{"etcd_extra_config": {"max-wals": 5}},
		{"etcd_extra_config": {}, "etcd_workload": "{{ work }}"},
		{"etcd_extra_config": {}, "etcd_workload": "text"},
		{"etcd_nice": 0},
		{"etcd_memory_budget": "2GB", "etcd_of_another_role": 1},
		{"etcd_environment": {"ETCD_INITIAL_CLUSTER_STATE": "existing"}, "etcd_memory_budget": "2GB"},
	}
	planned := {profile.etcd.planned | some profile in clusters.profiles} with input as testing.cluster(1, variables)
}

test_planned_without_a_workload if {
	{names: planned | some variables, planned in _planned; names := concat(" ", sort(object.keys(variables)))} == {
		"etcd_storage_data_device": {true},
		"etcd_maintenance_backup_dir etcd_workload": {true},
		"etcd_extra_config": {true},
		"etcd_extra_config etcd_workload": {false},
		"etcd_nice": {false},
		"etcd_memory_budget etcd_of_another_role": {false},
		"etcd_environment etcd_memory_budget": {false},
	}
}

# site.yml says that it deploys the inventory.
test_planned_by_site if {
	document := {
		"_meta": {"hostvars": {"e1": {"etcd_version": "3.7.3"}}, "deployed_by": "etcdops.headroom"},
		"all": {"children": ["etcd"]},
		"etcd": {"hosts": ["e1"]},
	}
	{profile.etcd.planned | some profile in clusters.profiles} == {true} with input as document
}
