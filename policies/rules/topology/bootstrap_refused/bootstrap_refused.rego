# METADATA
# title: etcd accepts how the cluster starts
# description: |
#   With an empty data directory, etcd exits if one URL occurs twice in initial-cluster, for the same member or for two.
#   It also exits, with any data directory, if initial-cluster is set together with discovery: a member learns of the others in one way.
# custom:
#   id: topology/bootstrap_refused
#   severity: deny
#   fix: Give each member a URL of its own, and set either initial-cluster or one of the settings of discovery
#   source: ErrConflictBootstrapFlags in server/embed/config.go and hasLocalMember in server/config/config.go of etcd
package headroom.rules.topology.bootstrap_refused

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings.given

deny contains finding if some finding in result.findings("topology/bootstrap_refused", problems)

problems contains result.problem(profile, list.name, text) if {
	some profile in clusters.profiles
	list := _list(profile)
	members := [found |
		some entry in split(list.value, ",")
		found := regex.find_all_string_submatch_n(_literal, trim_space(entry), 1)[0]
	]
	some url in {found[2] | some found in members}
	names := [found[1] | some found in members; found[2] == url]
	count(names) > 1
	text := sprintf("%s has %s more than once (%s): with an empty data directory, etcd does not start", [list.name, url, concat(", ", names)])
}

problems contains result.problem(profile, list.name, text) if {
	some profile in clusters.profiles
	list := _list(profile)
	list.value != ""
	some setting in ["discovery", "discovery_endpoints", "discovery_srv"]
	not setting in profile.etcd.unknown
	[other] := given.entries(profile.etcd, setting)
	other.value != ""
	not given.is_replaceable(profile, [other])
	text := sprintf("%s and %s are both set: etcd does not start", [list.name, other.name])
}

_list(profile) := list if {
	not "initial_cluster" in profile.etcd.unknown
	[list] := given.entries(profile.etcd, "initial_cluster")
	not given.is_replaceable(profile, [list])
}

# A host in capitals, or with an x such as 10.0.0.x, is a placeholder.
_literal := `^([\w.-]+)=(https?://([a-wyz0-9_-][a-z0-9_-]*(\.[\w-]+)*|\[[0-9a-f:.]+\]):[0-9]+)$`
