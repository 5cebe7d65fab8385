package headroom_test.formats.read_member

import data.headroom.clusters
import data.headroom.formats
import data.headroom.inventory
import data.headroom.result

_member := {
	"name": "n1",
	"format": "systemd unit",
	"image": null,
	"command": ["etcd", "--unsafe-no-fsync", "--snapshot-count", "5"],
	"environment": {"ETCD_DATA_DIR": "/etcd", "GOGC": "50"},
	"limit": {"name": "MemoryMax", "size": "1G"},
	"memlock": {"name": "LimitMEMLOCK", "size": "64M"},
	"unknown": {"$ETCD_OPTS": "it is filled in when etcd starts"},
	"silent": [],
	"where": {"--snapshot-count": ["etcd.service", 7]},
}

_input(changes) := [{"path": "headroom-lint.json", "contents": {"headroom_lint": {
	"files": [{"path": "etcd.service", "contents": {"headroom_member": object.union(_member, changes)}}],
	"lines": {},
	"unparsed": {},
	"translated": {},
}}}]

test_member if {
	some profile in clusters.profiles with input as _input({})
	profile.hosts == {"n1"}
	profile.etcd.settings == {"unsafe_no_fsync": true, "snapshot_count": 5, "data_dir": "/etcd", "gogc": "50"}
	profile.etcd.limit == {"name": "MemoryMax", "bytes": 1073741824}
	profile.etcd.memlock == {"name": "LimitMEMLOCK", "bytes": 67108864}
	profile.unknown["$ETCD_OPTS"] == "it is filled in when etcd starts"
}

# A package of a series is an old one for certain only if the whole series is.
test_series if {
	some old in clusters.profiles with input as _input({"release": "3.4"})
	old.etcd.version == "3.4"
	some supported in clusters.profiles with input as _input({"release": "3.5"})
	supported.etcd.version == null
	supported.unknown["the version"] == "the package has any release of 3.5"
}

test_without_limits if {
	some profile in clusters.profiles with input as _input({"limit": null, "memlock": {"name": "LimitMEMLOCK", "size": "infinity"}, "image": "quay.io/coreos/etcd:v3.5.1"})
	profile.etcd.limit == {"name": "a memory limit"}
	profile.etcd.memlock == null
	profile.etcd.version == "3.5.1"
}

# Memory that a container mounts at the data directory, or elsewhere.
test_tmpfs if {
	at_data := _input({"image": "quay.io/coreos/etcd:v3.5.1", "folders": {"/etcd": ""}, "in_memory": ["/etcd"]})
	some host_profile in clusters.host_profiles with input as at_data
	host_profile.facts.data_fstype == "tmpfs"
	host_profile.names.data_fstype == "the volume at /etcd"
	elsewhere := _input({"image": "quay.io/coreos/etcd:v3.5.1", "folders": {"/etcd": "", "/run": ""}, "in_memory": ["/run"]})
	some other in clusters.host_profiles with input as elsewhere
	not other.facts.data_fstype
}

# A script's own download, or the unit's flags that repeat variables.
test_release_and_repetition if {
	some profile in clusters.profiles with input as _input({"release": "3.5.1", "twice": {"name": "ETCD_NAME", "data-dir": "ETCD_DATA_DIR", "x": "ETCD_X"}})
	profile.etcd.version == "3.5.1"
	profile.etcd.twice == {"name": ["--name", "ETCD_NAME"], "data_dir": ["--data-dir", "ETCD_DATA_DIR"]}
	some older in clusters.profiles with input as _input({"release": "3.3.1", "twice": {"name": "ETCD_NAME"}})
	older.etcd.twice == {}
}

test_facts_of_a_unit if {
	some host_profile in clusters.host_profiles with input as _input({"facts": {"io_class": {"name": "IOSchedulingClass", "value": "realtime"}}})
	host_profile.facts.io_class == "realtime"
	host_profile.names.io_class == "IOSchedulingClass"
}

test_data_directory_on_the_host if {
	changes := {"command": ["etcd", "--data-dir=/data"], "folders": {"/data": "/tmp/x"}, "where": {"--data-dir": ["run.sh", 3]}}
	some host_profile in clusters.host_profiles with input as _input(changes)
	host_profile.facts.data_dir_on_host == "/tmp/x"
	some named in clusters.host_profiles with input as _input(object.union(changes, {"folders": {"/data": ""}, "command": ["etcd", "--data-dir", "/data"]}))
	object.keys(named.facts) & {"data_dir", "data_dir_on_host"} == set()
	some finding in data.headroom.deny with input as _input(changes)
	finding.code == "disk/unfit_filesystem"
	finding._loc == {"file": "run.sh", "line": 3}
}

test_config_file if {
	changes := {"command": ["etcd", "--config-file=/etc/etcd.yml"], "config": {"data-dir": "/data"}, "folders": {"/data": "/tmp/x"}}
	some host_profile in clusters.host_profiles with input as _input(changes)
	host_profile.facts.data_dir_on_host == "/tmp/x"
	some profile in clusters.profiles with input as _input(changes)
	profile.etcd.settings == {"data_dir": "/data", "gogc": "50"}
}

# Whether rules may say that no data directory is set.
test_data_directory_of_a_container if {
	own := {"image": "quay.io/coreos/etcd:v3.5.1", "environment": {}}
	_is_silent(object.union(own, {"format": "playbook"}))
	not _is_silent(object.union(own, {"format": "script", "mounts": ["/certificates"]}))
	not _is_silent(object.union(own, {"format": "systemd unit", "mounts": []}))
	_is_silent(object.union(own, {"format": "script", "mounts": ["/var/lib/etcd"], "image": "quay.io/coreos/etcd:v3.5.31"}))
	not _is_silent(object.union(own, {"format": "script", "mounts": ["/var/lib/etcd"]}))
	_is_silent({"image": "bitnami/etcd:3.5.1", "environment": {}, "format": "script", "mounts": []})
	not _is_silent({"environment": {}})
}

_is_silent(changes) if {
	some profile in clusters.profiles with input as _input(changes)
	"data_dir" in profile.etcd.unknown
}

_locations(about) := {[finding._loc, finding.msg] |
	some finding in result.findings("t/n", {{"inventory": "etcd.service", "hosts": {"n1"}, "about": about, "text": "it is so"}})
}

test_location if {
	catalog := {"t/n": {"title": "A title", "custom": {"id": "t/n", "severity": "deny", "fix": "Do it", "source": "a page"}}}
	known := _locations("--snapshot-count") with input as _input({}) with data.headroom.catalog as catalog
	known == {[{"file": "etcd.service", "line": 7}, "t/n: etcd.service:7: n1: it is so. Do it"]}
	unknown := _locations("ETCD_WAL_DIR") with input as _input({}) with data.headroom.catalog as catalog
	unknown == {[{"file": "etcd.service", "line": 1}, "t/n: etcd.service: n1: it is so. Do it"]}
}

test_location_in_inventory if {
	reader := {
		"files": [{"path": "i/hosts.yml", "contents": {"etcd": {"hosts": {"n1": {"etcd_version": "3.6.1"}}}}}],
		"lines": {"i/hosts.yml": {"words": {"etcd_version": [2]}, "scopes": {}}},
	}
	catalog := {"t/n": {"title": "A title", "custom": {"id": "t/n", "severity": "deny", "fix": "Do it", "source": "a page"}}}
	problem := {"inventory": "i", "hosts": {"n1"}, "about": "etcd_version", "text": "it is so"}
	some finding in result.findings("t/n", {problem}) with input as [{"path": "-", "contents": {"headroom_lint": reader}}] with data.headroom.catalog as catalog
	finding._loc == {"file": "i/hosts.yml", "line": 2}
	finding.msg == "t/n: i/hosts.yml:2: n1: it is so. Do it"
}

# headroom-lint gives an INI inventory the form of a YAML one.
test_translated_inventory if {
	reader := {
		"files": [{"path": "hosts.ini", "contents": {"etcd": {"hosts": {"n1": {"etcd_version": "3.6.1"}}}}}],
		"lines": {"hosts.ini": {"words": {"etcd_version": [2]}, "scopes": {}}},
		"unparsed": {"etcd.conf": "line 3 is not valid YAML", "hosts.ini": "it is not UTF-8 text"},
		"translated": {"hosts.ini": true},
	}
	document := [{"path": "headroom-lint.json", "contents": {"headroom_lint": reader}}]
	{"n1": {"etcd_version": "3.6.1"}} == inventory.hosts with input as document
	count(formats.paths) == 0 with input as document
	texts := {finding.msg | some finding in data.headroom.rules.inventory.unread_file.warn} with input as document
	every expected in ["etcd.conf was not read: line 3 is not valid YAML", "hosts.ini was read only in part: it is not UTF-8 text"] {
		some line in texts
		contains(line, expected)
	}
}

# Of variables headroom-lint gives the names, too. Those of a group are not judged twice.
test_variables if {
	given := [{"name": "etcd_initial_cluster", "form": "env", "spelling": "ETCD_INITIAL_CLUSTER", "value": "a=http://a:2380"}]
	member := object.union(_member, {"format": "variables", "command": ["etcd"], "environment": {}, "given": given, "where": {}})
	files := [{"path": "group_vars/all.yml", "contents": {"headroom_member": member}}]
	some profile in clusters.profiles with input as [{"path": "headroom-lint.json", "contents": {"headroom_lint": {
		"files": files,
		"lines": {},
		"unparsed": {},
		"translated": {},
	}}}]
	profile.hosts == {"n1"}
	profile.members == 1
	profile.etcd.names.initial_cluster == "etcd_initial_cluster"
}

# headroom-lint has put the values of such variables into the command.
test_expanded if {
	environment := {"ETCD_DATA_DIR": "/etcd", "ETCD_CLIENT_PORT": "2379"}
	document := _input({"environment": environment})
	expanded := json.patch(document, [{"op": "add", "path": "/0/contents/headroom_lint/expanded", "value": ["ETCD_CLIENT_PORT", "ETCD_DATA_DIR"]}])
	some profile in clusters.profiles with input as expanded
	"ETCD_DATA_DIR" in {entry.spelling | some entry in profile.etcd.given}
	not "ETCD_CLIENT_PORT" in {entry.spelling | some entry in profile.etcd.given}
}
