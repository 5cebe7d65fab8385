package headroom_test.settings.statement

import data.headroom.settings.statement

_statement(given, unknown) := {
	"format": "compose",
	"given": given,
	"version": "3.6.16",
	"limit": {"name": "mem_limit", "bytes": 1024},
	"workload": {},
	"unknown": unknown,
	"kubernetes": false,
}

given := [
	{"name": "--snapshot-count", "form": "flag", "spelling": "snapshot-count", "value": "5000"},
	{"name": "ETCD_SNAPSHOT_COUNT", "form": "env", "spelling": "ETCD_SNAPSHOT_COUNT", "value": "6000"},
	{"name": "--data-dir", "form": "flag", "spelling": "data-dir", "value": "/var/lib/etcd"},
	{"name": "--name", "form": "flag", "spelling": "name", "value": "n1"},
	{"name": "ETCD_STRANGE", "form": "env", "spelling": "ETCD_STRANGE", "value": "x"},
]

test_member if {
	found := statement.member(_statement(given, {"ETCD_MAX_WALS": ["max_wals", "a reason"]}))
	found.settings == {"snapshot_count": 5000, "data_dir": "/var/lib/etcd"}
	found.names == {"snapshot_count": "--snapshot-count", "data_dir": "--data-dir"}
	found.twice == {"snapshot_count": ["--snapshot-count", "ETCD_SNAPSHOT_COUNT"]}
	found.unknown == {"max_wals"}
	found.given == given
	not found.config_file
}

# A profile does not contain the name, but etcd also refuses a name that is set twice.
test_name_twice if {
	variable := {"name": "ETCD_NAME", "form": "env", "spelling": "ETCD_NAME", "value": "n1"}
	found := statement.member(_statement([given[3], variable], {}))
	found.settings == {}
	found.twice == {"name": ["--name", "ETCD_NAME"]}
}

# With a config file etcd ignores flags and environment.
test_config_file if {
	files := [{"name": "--config-file", "form": "flag", "spelling": "config-file", "value": "/etc/etcd.yml"}]
	found := statement.member(_statement(array.concat(given, files), {}))
	found.settings == {}
	found.config_file == "--config-file"
	found.unknown == {"extra_config"}
	count(found.given) == 6
}

# Go's runtime reads its variables in any case, and a config file that was read has the settings.
test_config_file_with_its_settings if {
	collector := {"name": "GOGC", "form": "env", "spelling": "GOGC", "value": "50"}
	file := {"name": "ETCD_CONFIG_FILE", "form": "env", "spelling": "ETCD_CONFIG_FILE", "value": "/etc/etcd.yml"}
	keys := [
		{"name": "snapshot-count", "form": "key", "spelling": "snapshot-count", "value": 7000},
		{"name": "data-dir", "form": "key", "spelling": "data-dir", "value": "/data"},
	]
	unread := statement.member(_statement(array.concat(given, [collector, file]), {}))
	unread.settings == {"gogc": "50"}
	unread.unknown == {"extra_config"}
	all_given := array.concat(array.concat(given, [collector, file]), keys)
	found := statement.member(_statement(all_given, {}))
	found.settings == {"gogc": "50", "snapshot_count": 7000, "data_dir": "/data"}
	found.names.snapshot_count == "snapshot-count"
	found.unknown == set()
	found.twice == {}
	statement.host(_statement(all_given, {})).names == {"data_dir": "data-dir"}
}

test_place if {
	statement.host(_statement(given, {})) == {
		"facts": {"data_dir": "/var/lib/etcd"},
		"names": {"data_dir": "--data-dir"},
		"unknown": set(),
	}
}

test_reasons if statement.reasons(_statement([], {"ETCD_MAX_WALS": ["max_wals", "a reason"]})) == {"ETCD_MAX_WALS": "a reason"}

# Nothing is known of the settings in a config file that was not read.
test_reasons_of_a_config_file if {
	files := [{"name": "--config-file", "form": "flag", "spelling": "config-file", "value": "/etc/etcd.yml"}]
	keys := [{"name": "data-dir", "form": "key", "spelling": "data-dir", "value": "/data"}]
	unread := _statement(files, {})
	statement.reasons(unread) == {"--config-file": "it is not among the files"}
	statement.reasons(_statement(array.concat(files, keys), {})) == {}
	contents := {"name": "a", "data-dir": "/data", "listen-client-urls": "https://10.0.0.1:2379"}
	statement.reasons(unread) == {"--config-file": "a config file among the files is checked as another member"} with input as [
		{"path": "hosts.yml", "contents": null},
		{"path": "etcd.yml", "contents": contents},
	]
}
