# METADATA
# title: A member is in its own list of members
# description: |
#   With an empty data directory, etcd looks for its own name in initial-cluster, for a new cluster as well as for an
#   existing one. If the name is missing, it exits with "couldn't find local name in the initial cluster configuration".
#   A new cluster needs the same URLs there as in initial-advertise-peer-urls: etcd exits if one of them is missing. The
#   default there is http://localhost:2380, unless listen-peer-urls has 0.0.0.0.
# custom:
#   id: topology/unlisted_member
#   severity: deny
#   fix: Give the member the same name and the same URLs in both places, and list every member
#   source: https://etcd.io/docs/v3.6/op-guide/clustering/#static; hasLocalMember and advertiseMatchesCluster in server/config/config.go of etcd
package headroom.rules.topology.unlisted_member

import data.headroom.clusters
import data.headroom.files
import data.headroom.result
import data.headroom.settings
import data.headroom.settings.given

deny contains finding if some finding in result.findings("topology/unlisted_member", problems)

problems contains result.problem(profile, own.name, text) if {
	some profile in clusters.profiles
	[own, list] := _own_and_list(profile)
	names := {name | [_, name] := regex.find_all_string_submatch_n(_member, list.value, -1)[_]}
	regex.match(`^[\w.-]+$`, own.value)

	# The rule topology/default_name reports this name.
	own.value != "default"
	not own.value in names
	text := sprintf("the member is named %q (%s), but %s lists only %s: with an empty data directory, etcd does not start", [
		own.value, own.name, list.name, concat(", ", sort(names)),
	])
}

# etcd resolves names before it compares the URLs, so only written-out addresses differ for certain.
problems contains result.problem(profile, advertised.name, text) if {
	some profile in clusters.profiles
	[own, list] := _own_and_list(profile)
	[advertised] := given.entries(profile.etcd, "initial_advertise_peer_urls")
	not "initial_advertise_peer_urls" in profile.etcd.unknown
	not given.is_replaceable(profile, [advertised])
	_is_new(profile.etcd)
	listed := _listed(own, list)
	urls := {trim_space(url) | some url in split(advertised.value, ",")}
	every url in listed | urls { regex.match(`^https?://[0-9]+(\.[0-9]+){3}:[0-9]+$`, url) }
	count(listed) > 0
	listed != urls
	text := sprintf("%s is %s, but %s has %s for %q: with an empty data directory, etcd does not start", [
		advertised.name, concat(",", sort(urls)), list.name, concat(",", sort(listed)), own.value,
	])
}

# etcd does not resolve "localhost", so the default equals no other name and no address.
problems contains result.problem(profile, list.name, text) if {
	some profile in clusters.profiles
	settings.is_unset(profile.etcd, "initial_advertise_peer_urls")
	_states_all(profile)
	[own, list] := _own_and_list(profile)
	_is_new(profile.etcd)
	not _advertises_host(profile.etcd)
	listed := _listed(own, list)
	count(listed) > 0
	listed != {"http://localhost:2380"}
	text := sprintf("%s has %s for %q, but initial-advertise-peer-urls is not set, so it is http://localhost:2380: with an empty data directory, etcd does not start", [
		list.name, concat(",", sort(listed)), own.value,
	])
}

# Nothing else can set the URLs.
_states_all(profile) if given.states_everything(profile)

_states_all(profile) if {
	profile.etcd.format == "config file"
	not files.is_template(profile.inventory)
}

# If etcd listens on all addresses of IPv4, it advertises the host's address.
_advertises_host(etcd) if "listen_peer_urls" in etcd.unknown

_advertises_host(etcd) if contains(etcd.settings.listen_peer_urls, "//0.0.0.0")

_listed(own, list) := {url |
	some entry in split(list.value, ",")
	[name, url] := split(trim_space(entry), "=")
	name == own.value
}

# An existing cluster knows the URLs of its members.
_is_new(etcd) if settings.is_unset(etcd, "initial_cluster_state")

_is_new(etcd) if etcd.settings.initial_cluster_state == "new"

# The entries with the member's name and with a literal list of members.
_own_and_list(profile) := [own, list] if {
	not "name" in profile.etcd.unknown
	not "initial_cluster" in profile.etcd.unknown
	[own] := given.entries(profile.etcd, "name")
	[list] := given.entries(profile.etcd, "initial_cluster")
	not given.is_replaceable(profile, [own, list])
	regex.match(_literal_list, list.value)
}

# A list in which every name is literal: a placeholder could be the name of this member.
_literal_list := `^\s*[\w.-]+=[^,=]+(,\s*[\w.-]+=[^,=]+)*[\s,]*$`

_member := `([\w.-]+)=`
