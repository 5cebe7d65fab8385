package headroom_test.waivers

import data.headroom
import data.headroom.rules.memory.large_values
import data.headroom.rules.topology.even_members
import data.headroom.rules.waiver.expired
import data.headroom.rules.waiver.malformed
import data.headroom.rules.waiver.unused
import data.headroom.testing
import data.headroom.waived
import data.headroom.waivers

noon := testing.noon

_waiver(changes) := object.union(
	{"rule": "memory/large_values", "group": "etcd", "reason": "until the blobs move", "expires": "2026-12-31"},
	changes,
)

_large := {"etcd_workload": {"value_size": "1MB"}}

_with_file(path, list) := array.concat(testing.example_of(2, _large), [{"path": path, "contents": {"waivers": list}}])

_denied(list) := found if {
	found := large_values.deny with input as _with_file("inventory/.waivers.yml", list) with time.now_ns as noon
}

_warned(list) := found if {
	found := waived.warn with input as _with_file("inventory/.waivers.yml", list) with time.now_ns as noon
}

test_waived_is_listed if {
	count(_denied([_waiver({})])) == 0
	some finding in _warned([_waiver({})])
	finding.msg == "waived: memory/large_values: etcd-1, etcd-2: values of 1.0 MiB (etcd_workload.value_size) are over the limit of 100.0 KiB (until 2026-12-31: until the blobs move)"
	finding.waived == {"file": "inventory/.waivers.yml", "number": 1, "reason": "until the blobs move", "expires": "2026-12-31"}
	finding.code == "memory/large_values"
}

# Scope → the hosts that are still denied.
scopes := [
	[{"group": "etcd"}, set()],
	[{"group": "all"}, set()],
	[{"group": "others"}, {"etcd-1", "etcd-2"}],
	[{"host": "etcd-1"}, {"etcd-2"}],
	[{"host": "etcd-9"}, {"etcd-1", "etcd-2"}],
	[{"cluster": "etcd"}, set()],
	[{"cluster": "main"}, {"etcd-1", "etcd-2"}],
]

test_scope[note] if {
	some [scope, open] in scopes
	note := json.marshal(scope)
	waiver := object.union(object.remove(_waiver({}), {"group"}), scope)
	{host | some finding in _denied([waiver]); some host in finding.hosts} == open
	{host | some finding in _warned([waiver]); some host in finding.hosts} == {"etcd-1", "etcd-2"} - open
}

test_another_rule if count(_denied([_waiver({"rule": "memory/quota_unset"})])) == 1

# A waiver of a cluster's problem must cover the whole cluster.
test_whole_cluster if {
	waiver := _waiver({"rule": "topology/even_members"})
	one := object.union(object.remove(waiver, {"group"}), {"host": "etcd-1"})
	open := even_members.warn with input as _with_file("inventory/.waivers.yml", [one]) with time.now_ns as noon
	{finding.hosts | some finding in open} == {{"etcd-1", "etcd-2"}}
	said := waived.warn with input as _with_file("inventory/.waivers.yml", [one]) with time.now_ns as noon
	count(said) == 0
	closed := waived.warn with input as _with_file("inventory/.waivers.yml", [waiver]) with time.now_ns as noon
	{finding.waived.number | some finding in closed} == {1}
}

# A waiver is valid through its last day, in UTC: [expires, now, valid].
days := [
	["2026-11-21", "2026-11-21T00:00:00Z", true],
	["2026-11-21", "2026-11-21T23:59:59Z", true],
	["2026-11-21", "2026-11-22T00:00:00Z", false],
	["2026-11-21", "2026-11-21T23:30:00-02:00", false],
	["2026-12-01", "2026-11-30T12:00:00Z", true],
	["2026-09-30", "2026-10-01T00:00:00Z", false],
	["2027-01-01", "2026-12-31T23:59:59Z", true],
	["2026-12-31", "2027-01-01T00:00:00Z", false],
	# 366 days ahead, and 367.
	["2027-11-22", "2026-11-21T12:00:00Z", true],
	["2028-02-29", "2028-02-29T12:00:00Z", true],
]

test_days[note] if {
	some [expires, at, counts] in days
	note := sprintf("%s at %s", [expires, at])
	now := time.parse_rfc3339_ns(at)
	files := _with_file("inventory/.waivers.yml", [_waiver({"expires": expires})])
	denied := large_values.deny with input as files with time.now_ns as now
	late := expired.deny with input as files with time.now_ns as now
	[count(denied) == 0, count(late) == 0] == [counts, counts]
}

test_expired if {
	files := _with_file("inventory/.waivers.yml", [_waiver({}), _waiver({"expires": "2026-11-20"})])
	found := testing.texts(expired.deny) with input as files with time.now_ns as noon
	found == {"inventory/.waivers.yml: waiver 2 for memory/large_values expired on 2026-11-20 (until the blobs move)"}
}

wrong := [
	["text", "waiver 1 is not a mapping with cluster, expires, group, host, reason, rule"],
	[_waiver({"rule": "memory/large_valuez"}), `waiver 1 names a rule that does not exist, "memory/large_valuez"; the nearest is memory/large_values`],
	[_waiver({"rule": "waiver/unused"}), "waiver 1 is for a rule about waivers, which cannot be waived"],
	[_waiver({"rule": "xyz"}), `waiver 1 names a rule that does not exist, "xyz"`],
	[_waiver({"expires": "2026-02-30"}), `waiver 1 expires on "2026-02-30", which is not a date such as 2027-03-31`],
	[_waiver({"expires": "2026-2-3"}), `waiver 1 expires on "2026-2-3", which is not a date such as 2027-03-31`],
	[_waiver({"expires": "tomorrow"}), `waiver 1 expires on "tomorrow", which is not a date such as 2027-03-31`],
	[_waiver({"expires": "2027-11-23"}), `waiver 1 expires on "2027-11-23", more than 366 days ahead`],
	[_waiver({"expires": 2027}), "waiver 1 has no expires"],
	[_waiver({"reason": " "}), "waiver 1 has no reason"],
	[object.remove(_waiver({}), ["rule"]), "waiver 1 has no rule"],
	[object.remove(_waiver({}), ["group"]), "waiver 1 must name exactly one of host, group and cluster"],
	[_waiver({"host": "etcd-1"}), "waiver 1 must name exactly one of host, group and cluster"],
	[_waiver({"group": null}), "waiver 1 must name exactly one of host, group and cluster"],
	[_waiver({"until": "x"}), `waiver 1 has an unknown key "until"; known are cluster, expires, group, host, reason, rule`],
]

test_malformed[text] if {
	some [waiver, text] in wrong
	files := _with_file("inventory/.waivers.yml", [waiver])
	found := testing.texts(malformed.deny) with input as files with time.now_ns as noon
	found == {sprintf("inventory/.waivers.yml: %s", [text])}

	# It waives nothing.
	count(_denied([waiver])) == 1
}

no_lists := [{}, {"waivers": null}, {"waivers": {"a": 1}}, ["a"], "text", 5]

test_no_list[note] if {
	some contents in no_lists
	note := json.marshal(contents)
	files := array.concat(testing.example({}), [{"path": "waivers.yml", "contents": contents}])
	found := testing.texts(malformed.deny) with input as files
	found == {`waivers.yml: has no list named "waivers"`}
}

test_well_formed if {
	files := _with_file("inventory/.waivers.yml", [_waiver({})])
	found := malformed.deny with input as files with time.now_ns as noon
	count(found) == 0
	none := malformed.deny with input as _with_file("inventory/.waivers.yml", [])
	count(none) == 0
}

test_unused if {
	list := [_waiver({}), _waiver({"rule": "memory/quota_unset"}), object.union(object.remove(_waiver({}), ["group"]), {"host": "etcd-9"})]
	found := testing.texts(unused.warn) with input as _with_file("inventory/.waivers.yml", list) with time.now_ns as noon
	found == {
		`inventory/.waivers.yml: waiver 2 for memory/quota_unset, group "etcd", waives nothing`,
		`inventory/.waivers.yml: waiver 3 for memory/large_values, host "etcd-9", waives nothing`,
	}
}

# Path of the file → the inventories that it applies to.
places := [
	["waivers.yml", {"a", "b"}],
	["./waivers.yml", {"a", "b"}],
	["a/waivers.yml", {"a"}],
	["a/.waivers.yaml", {"a"}],
	["b/deep/waivers.yml", {"b"}],
]

test_place[path] if {
	some [path, waived] in places
	files := [
		{"path": "a/hosts.yml", "contents": {"etcd": {"hosts": "n1", "vars": _large}}},
		{"path": "b/hosts.yml", "contents": {"etcd": {"hosts": "n1", "vars": _large}}},
		{"path": path, "contents": {"waivers": [_waiver({})]}},
	]
	denied := large_values.deny with input as files with time.now_ns as noon
	{finding.inventory | some finding in denied} == {"a", "b"} - waived
}

# [path of the file, inventory, working directory, whether it applies].
elsewhere := [
	["../waivers.yml", "inventory", null, true],
	["../../waivers.yml", "../inventory", null, true],
	["../waivers.yml", "../inventory", null, true],
	["../a/waivers.yml", "../a/b", null, true],
	["../a/waivers.yml", "../b", null, false],
	["a/../waivers.yml", "inventory", null, true],
	["a/../b/./.x/../waivers.yml", "b/inventory", null, true],
	["../waivers.yml", "../../inventory", null, false],
	["../waivers.yml", "/srv/inventory", null, false],
	["../waivers.yml", "/srv/inventory", "/srv/etcd-config", true],
	["../../waivers.yml", "inventory", "/srv/etcd-config", true],
	["/srv/waivers.yml", "inventory", "/srv/etcd-config", true],
	["/srv/other/waivers.yml", "inventory", "/srv/etcd-config", false],
	["../etcd-config/waivers.yml", "inventory", "/srv/etcd-config", true],
	["inventory/waivers.yml", "/srv/etcd-config/inventory/a", "/srv/etcd-config", true],
]

test_elsewhere[note] if {
	some [path, inventory, folder, applies] in elsewhere
	note := json.marshal([path, inventory, folder])
	files := [
		{"path": sprintf("%s/hosts.yml", [inventory]), "contents": {"etcd": {"hosts": "n1", "vars": _large}}},
		{"path": path, "contents": {"waivers": [_waiver({})]}},
	]
	document := object.union({"files": files, "lines": {}, "unparsed": {}, "translated": {}, "expanded": []}, {"working_directory": folder | folder != null})
	denied := large_values.deny with input as [{"contents": {"headroom_lint": document}}] with time.now_ns as noon
	count(denied) == count([1 | not applies])
}

# Without a working directory, some paths cannot be compared.
test_incomparable[path] if {
	some path in ["/srv/waivers.yml", "../etcd-config/waivers.yml"]
	files := array.concat(testing.example_of(2, _large), [{"path": path, "contents": {"waivers": [_waiver({})]}}])
	found := testing.texts(unused.warn) with input as files with time.now_ns as noon
	text := `%s: waiver 1 for memory/large_values, group "etcd", waives nothing: whether inventory is below its folder is unknown, %s`
	found == {sprintf(text, [path, "so give both paths as absolute or relative ones"])}
}

# These can be compared, so their waivers of rules without a finding are unused without a doubt.
test_comparable[path] if {
	some [path, inventory] in [["waivers.yml", "/srv/inventory"], ["../a/waivers.yml", "../inventory"], ["/srv/waivers.yml", "/srv/inventory"]]
	files := [
		{"path": sprintf("%s/hosts.yml", [inventory]), "contents": {"etcd": {"hosts": "n1", "vars": _large}}},
		{"path": path, "contents": {"waivers": [_waiver({"rule": "live/lag"})]}},
	]
	found := testing.texts(unused.warn) with input as files with time.now_ns as noon
	found == {sprintf(`%s: waiver 1 for live/lag, group "etcd", waives nothing`, [path])}
}

# A waiver from --data applies to all inventories, including resolved ones.
test_data if {
	listed := {"_meta": {"hostvars": {"n1": _large}}, "etcd": {"hosts": ["n1"]}}
	denied := large_values.deny with input as listed with data.waivers as [_waiver({})] with time.now_ns as noon
	count(denied) == 0
	bad := malformed.deny with input as listed with data.waivers as "x"
	testing.texts(bad) == {`--data: has no list named "waivers"`}
}

# Waiver files that the playbook lint embeds apply to everything that it lints.
test_beside if {
	files := {"/etc/ansible/.waivers.yml": {"waivers": [_waiver({})]}, "/etc/ansible/waivers.yaml": []}
	listed := {"_meta": {"hostvars": {"n1": _large}, "waivers": files}, "etcd": {"hosts": ["n1"]}}
	denied := large_values.deny with input as listed with time.now_ns as noon
	count(denied) == 0
	bad := malformed.deny with input as listed
	testing.texts(bad) == {`/etc/ansible/waivers.yaml: has no list named "waivers"`}
}

# Findings about files need a waiver for the group `all`.
test_findings_without_hosts if {
	vault := {"path": "inventory/group_vars/all.yml", "contents": "$ANSIBLE_VAULT;1.1;AES256"}
	waiver := _waiver({"rule": "inventory/unread_file", "group": "all"})
	files := array.concat(_with_file("inventory/.waivers.yml", [waiver]), [vault])
	found := [finding | some finding in waived.warn] with input as files with time.now_ns as noon
	[finding.waived.number | some finding in found] == [1]
	others := array.concat(_with_file("inventory/.waivers.yml", [_waiver({"rule": "inventory/unread_file"})]), [vault])
	open := [finding | some finding in data.headroom.rules.inventory.unread_file.warn] with input as others with time.now_ns as noon
	count(open) == 1
}

# No finding gets lost: whatever the waiver, it is denied or listed as waived.
test_all_rules if {
	files := _with_file("inventory/.waivers.yml", [_waiver({})])
	open := {finding.code | some finding in headroom.deny} with input as testing.example_of(2, _large)
	denied := {finding.code | some finding in headroom.deny} with input as files with time.now_ns as noon
	open - denied == {"memory/large_values"}
	warned := {finding.code | some finding in headroom.warn; finding.waived} with input as files with time.now_ns as noon
	warned == {"memory/large_values"}
	count(waivers.by_rule) == 1 with input as files with time.now_ns as noon
}
