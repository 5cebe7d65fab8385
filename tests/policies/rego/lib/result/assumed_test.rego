package headroom_test.result_of_assumptions

import data.headroom
import data.headroom.testing

_compose(command) := [{"path": "compose.yml", "contents": {"services": {"etcd": {"image": "quay.io/coreos/etcd:v3.6.16", "mem_limit": "60m", "command": command}}}}]

_retained := "etcd --name=a --data-dir=/d --auto-compaction-retention=5m --quota-backend-bytes=9000000"

_modest := "with the settings given, etcd's defaults for the rest, and a modest workload where none is set"

_ids(findings) := {finding.code | some finding in findings}

_assumptions(findings) := {finding.code: finding.assumes | some finding in findings; finding.assumes}

# A file that is not for Headroom's roles may leave out what another file says.
test_values_that_no_file_states_are_warnings if {
	input_document := _compose("etcd --name=a --data-dir=/d --quota-backend-bytes=9000000")
	denied := headroom.deny with input as input_document
	warned := headroom.warn with input as input_document
	_ids(denied) & {"compaction/off", "memory/limit_below_estimate"} == set()
	_assumptions(warned) == {
		"compaction/off": "assuming that nothing outside this file sets it and no client compacts",
		"memory/limit_below_estimate": _modest,
		"memory/quota_over_memory": _modest,
	}
	{finding.severity | some finding in warned; finding.assumes} == {"warn"}
}

test_what_it_states_is_denied if {
	document := _compose(concat(" ", [_retained, "--auto-compaction-retention=0"]))
	denied := headroom.deny with input as document
	"compaction/off" in _ids(denied)
}

# The user states a workload for the files.
test_a_stated_workload_is_denied if {
	denied := headroom.deny with input as _compose(_retained)
		with data.headroom.assumed as {"etcd_version": null, "etcd_workload": {"value_size": "1MB"}, "etcd_memory_budget": null}
	"memory/limit_below_estimate" in _ids(denied)
}

# So do Headroom's variables, and a running member, whose process was read.
test_variables_of_headroom_are_denied if {
	denied := headroom.deny with input as testing.cluster(1, {"etcd_version": "3.7.3", "etcd_tls_enabled": true, "etcd_memory_max": "64MB"})
	_ids(denied) & {"compaction/off", "memory/limit_below_estimate"} == {"compaction/off", "memory/limit_below_estimate"}
}

_running := {
	"name": "a",
	"format": "running member",
	"image": null,
	"release": "3.6.16",
	"command": ["etcd", "--name=a", "--data-dir=/d"],
	"environment": {},
	"limit": {"name": "the memory limit of its control group", "size": "60MB"},
	"memlock": null,
	"unknown": {},
	"silent": [],
	"twice": {},
	"where": {},
	"workload": {},
	"live": {},
}

test_a_running_member_is_denied if {
	denied := headroom.deny with input as [{"path": "a", "contents": {"headroom_member": _running}}]
	_ids(denied) & {"compaction/off", "memory/limit_below_estimate"} == {"compaction/off", "memory/limit_below_estimate"}
}

_ids_of(finding_set, code) := [finding | some finding in finding_set; finding.code == code]

_limited(command) := [{"path": "compose.yml", "contents": {"services": {"etcd": {"image": "quay.io/coreos/etcd:v3.6.16", "mem_limit": "1g", "command": command}}}}]

quotas := [
	# Over what an assumed heap leaves, over the whole limit, or over what any plan sets.
	["1000000000", "warn"],
	["2000000000", "warn"],
	["9000000000", "deny"],
]

test_quota[quota] if {
	some [quota, severity] in quotas
	document := _limited(sprintf("etcd --name=a --data-dir=/d --quota-backend-bytes=%s", [quota]))
	findings := headroom.deny | headroom.warn with input as document
	{finding.severity | some finding in _ids_of(findings, "memory/quota_over_memory")} == {severity}
}

# The same where nothing is estimated.
test_quota_without_a_release[quota] if {
	some [quota, severity] in [["5000000000", "warn"], ["9000000000", "deny"]]
	command := sprintf("etcd --name=a --data-dir=/d --quota-backend-bytes=%s", [quota])
	document := [{"path": "compose.yml", "contents": {"services": {"etcd": {"image": "etcd", "mem_limit": "1g", "command": command}}}}]
	findings := headroom.deny | headroom.warn with input as document
	{finding.severity | some finding in _ids_of(findings, "memory/quota_over_memory")} == {severity}
}

# A measured workload may grow.
test_quota_of_a_running_member if {
	limit := {"limit": {"name": "the limit", "size": "2GB"}, "workload": {"value_size": 1000}}
	member := object.union(_running, object.union(limit, {"command": ["etcd", "--data-dir=/d", "--quota-backend-bytes=5000000000"]}))
	findings := headroom.deny | headroom.warn with input as [{"path": "a", "contents": {"headroom_member": member}}]
	{finding.severity | some finding in _ids_of(findings, "memory/quota_over_memory")} == {"warn"}
}

test_gomemlimit if {
	service := {"image": "quay.io/coreos/etcd:v3.6.16", "mem_limit": "1g", "command": "etcd --name=a", "environment": {"GOMEMLIMIT": "20000000"}}
	warned := headroom.warn with input as [{"path": "compose.yml", "contents": {"services": {"etcd": service}}}]
	"memory/gomemlimit_range" in _ids(warned)
}
