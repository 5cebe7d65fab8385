# METADATA
# title: A member is in its own list of members
# description: |
#   With an empty data directory, etcd looks for its own name in initial-cluster, for a new cluster as well as for an
#   existing one. If the name is missing, it exits with "couldn't find local name in the initial cluster configuration".
# custom:
#   id: topology/unlisted_member
#   severity: deny
#   fix: Give the member the same name in both places, and list every member
#   source: https://etcd.io/docs/v3.6/op-guide/clustering/#static; hasLocalMember in server/config/config.go of etcd
package headroom.rules.topology.unlisted_member

import data.headroom.clusters
import data.headroom.releases.spelling
import data.headroom.result

deny contains finding if some finding in result.findings("topology/unlisted_member", problems)

problems contains result.problem(profile, own.name, text) if {
	some profile in clusters.profiles
	not "name" in profile.etcd.unknown
	not "initial_cluster" in profile.etcd.unknown

	# etcd ignores flags and variables if it has a config file.
	not profile.etcd.config_file
	[own] := _entries(profile.etcd, "name")
	[list] := _entries(profile.etcd, "initial_cluster")
	not _is_replaceable(profile, [own, list])
	regex.match(_literal_list, list.value)
	names := {name | [_, name] := regex.find_all_string_submatch_n(_member, list.value, -1)[_]}
	regex.match(`^[\w.-]+$`, own.value)

	# The rule topology/default_name reports this name.
	own.value != "default"
	not own.value in names
	text := sprintf("the member is named %q (%s), but %s lists only %s: with an empty data directory, etcd does not start", [
		own.value, own.name, list.name, concat(", ", sort(names)),
	])
}

# A list in which every name is literal: a placeholder could be the name of this member.
_literal_list := `^\s*[\w.-]+=[^,=]+(,\s*[\w.-]+=[^,=]+)*[\s,]*$`

_member := `([\w.-]+)=`

# systemd lets EnvironmentFile= win over Environment=, and the linter has not read this file.
_is_replaceable(profile, entries) if {
	some entry in entries
	entry.form == "env"
	some written, _ in profile.unknown
	startswith(written, "EnvironmentFile=")
}

_entries(etcd, setting) := [entry |
	some entry in etcd.given
	is_string(entry.value)
	spelling.setting(etcd.release, entry.form, entry.spelling) == setting
]
