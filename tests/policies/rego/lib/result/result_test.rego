package headroom_test.result

import data.headroom.result
import data.headroom.testing

catalog := {"topic/name": {
	"title": "A title",
	"custom": {"id": "topic/name", "severity": "deny", "fix": "Do it", "source": "a page"},
}}

_findings(problems) := found if {
	found := result.findings("topic/name", problems) with data.headroom.catalog as catalog
}

_problem(hosts, about) := {"inventory": "inventory", "hosts": hosts, "about": about, "text": "it is so"}

test_finding if {
	found := _findings({_problem({"etcd-1"}, "etcd_version")}) with input as testing.example({})
	found == {{
		"_loc": {"file": "inventory/group_vars/etcd.yml", "line": 1},
		"code": "topic/name",
		"fix": {"text": "Do it"},
		"hosts": {"etcd-1"},
		"inventory": "inventory",
		"msg": "topic/name: etcd-1: it is so. Do it",
		"severity": "deny",
		"source": "a page",
		"title": "A title",
	}}
}

# What a person or a program needs beyond the message.
test_value_and_assumption if {
	known := object.union(catalog, {"topic/name": {"custom": {"cis": ["2.3"], "stig": ["V-242379"]}}})
	solvable := result.with_value(_problem({"etcd-1"}, "etcd_nice"), 0)
	findings := result.findings("topic/name", {result.assuming(solvable, "nobody else does it")}) with data.headroom.catalog as known
		with input as testing.example({})
	{finding | some finding in findings} != set()
	every finding in findings {
		finding.fix == {"text": "Do it", "set": {"etcd_nice": 0}}
		finding.assumes == "nobody else does it"
		finding.cis == ["2.3"]
		finding.stig == ["V-242379"]
	}
}

# The playbook lint does not recommend itself.
test_resolved if {
	known := object.union(catalog, {"topic/name": {"custom": {"fix": "Run lint.yml", "fix_resolved": "Write it out"}}})
	listed := {"_meta": {"hostvars": {"n1": {}}}, "etcd": {"hosts": ["n1"]}}
	problem := {"inventory": "i", "hosts": {"n1"}, "about": "etcd_version", "text": "it is so"}
	some finding in result.findings("topic/name", {problem}) with data.headroom.catalog as known with input as [{"path": "i", "contents": listed}]
	finding.fix.text == "Write it out"
}

# Headroom's plan and variables are of no use to another role.
test_fix_for_other_roles if {
	custom := {"fix": "Set it, or let the plan choose it", "fix_in_files": "Set it"}
	known := object.union(catalog, {"topic/name": {"custom": custom}})
	problem := _problem({"n1"}, "etcd_nice")
	some finding in result.findings("topic/name", {problem}) with data.headroom.catalog as known with input as _of_pigsty
	finding.fix.text == "Set it"
	some own in result.findings("topic/name", {problem}) with data.headroom.catalog as known with input as testing.example({})
	own.fix.text == custom.fix
}

_of_pigsty := [{"path": "inventory/hosts.yml", "contents": {"etcd": {"hosts": {"n1": {"etcd_seq": 1}}}}}]

test_no_value_for_a_default if {
	problem := _problem({"etcd-1"}, "a role's default etcd_nice")
	result.with_value(problem, 0) == problem
}

upgrades := [
	["3.6.2", "inventory", {"etcd_version": "3.6.16"}],
	["v3.5.2", "inventory", {"etcd_version": "3.5.35"}],
	["3.4.2", "inventory", {}],
	["3.6.2", "compose.yml", {}],
]

test_upgrade[note] if {
	some [version, name, values] in upgrades
	note := sprintf("%s in %s", [version, name])
	problem := object.union(_problem({"etcd-1"}, "etcd_version"), {"inventory": name})
	found := result.with_upgrade(problem, version) with data.headroom.formats.paths as {"compose.yml"}
	object.get(found, "set", {}) == values
}

located := [
	[{"etcd-1"}, `etcd_workload["keys"]`, "inventory/group_vars/etcd.yml"],
	[{"etcd-1"}, "etcd_unset", "inventory"],
	[set(), "inventory/more.yml", "inventory/more.yml"],
	[set(), "etcd_group", "inventory"],
]

test_location[about] if {
	some [hosts, about, path] in located
	found := _findings({_problem(hosts, about)}) with input as testing.example({})
	{path} == {finding._loc.file | some finding in found}
}

# Problems with equal texts share a finding.
test_same_text if {
	problems := {_problem({"etcd-1"}, "etcd_version"), _problem({"etcd-2", "etcd-3"}, "etcd_version")}
	found := _findings(problems) with input as testing.cluster(3, {})
	{"topic/name: etcd-1, etcd-2, etcd-3: it is so. Do it"} == {finding.msg | some finding in found}
}

# Long values are cut, and their length is shown.
test_long_text if {
	long := object.union(_problem({"etcd-1"}, "etcd_version"), {"text": concat("", [sprintf("%d", [number]) | some number in numbers.range(100, 800)])})
	some found in _findings({long}) with input as testing.example({})
	count(found.msg) < 1200
	contains(found.msg, "… (2103 characters in all). Do it")
}

test_several_inventories if {
	found := _findings({_problem({"etcd-1"}, "etcd_version")}) with input as array.concat(
		testing.example({}),
		[{"path": "other/hosts.yml", "contents": {"etcd": {"hosts": "n1"}}}],
	)
	{"topic/name: inventory: etcd-1: it is so. Do it"} == {finding.msg | some finding in found}
}

# A group's variable lies outside of the host's part of the inventory.
test_line_of_a_group_variable if {
	inventory := {"etcd": {"hosts": {"n1": null}, "vars": {"etcd_version": "3.6.16", "etcd_extra_config": {"unsafe-no-fsync": true}}}}
	index := {"words": {"unsafe-no-fsync": [6]}, "scopes": {"n1": [[3, 3]], "etcd_extra_config": [[5, 6]]}}
	document := {"headroom_lint": {"files": [{"path": "hosts.yml", "contents": inventory}], "lines": {"hosts.yml": index}}}
	denied := data.headroom.deny with input as [{"path": "headroom-lint.json", "contents": document}]
	{finding._loc | some finding in denied; finding.code == "durability/unsafe_no_fsync"} == {{"file": "hosts.yml", "line": 6}}
}

# Of a file that configures etcd directly, only the host's own part has its lines.
test_line_in_the_part_of_a_service if {
	image := "quay.io/coreos/etcd:v3.6.16"
	contents := {"services": {
		"one": {"image": image, "command": "etcd --data-dir=/d --unsafe-no-fsync"},
		"two": {"image": image, "command": "etcd"},
	}}
	index := {"words": {"data-dir": [4], "unsafe-no-fsync": [4]}, "scopes": {"one": [[2, 4]], "two": [[5, 7]]}}
	document := {"headroom_lint": {"files": [{"path": "compose.yml", "contents": contents}], "lines": {"compose.yml": index}}}
	input_document := [{"path": "headroom-lint.json", "contents": document}]
	found := data.headroom.deny | data.headroom.warn with input as input_document
	lines := {[finding.code, host, finding._loc.line] | some finding in found; some host in finding.hosts; finding.code in {"durability/unsafe_no_fsync", "disk/data_dir_unset"}}
	lines == {["durability/unsafe_no_fsync", "one", 4], ["disk/data_dir_unset", "two", 1]}
}
