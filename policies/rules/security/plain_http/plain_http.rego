# METADATA
# title: All traffic is encrypted
# description: |
#   etcd often stores secrets. Over plain HTTP, anyone on the network path can read them, and anyone who reaches a peer
#   port can join the cluster. The same holds for listen-client-http-urls, at which etcd reads and writes keys for anyone,
#   whatever certificates it asks for elsewhere. Loopback addresses are exempt.
# custom:
#   id: security/plain_http
#   severity: deny
#   fix: Use https with certificates for clients and peers (the role's default, etcd_tls_enabled)
#   fix_in_files: Use https with certificates for clients and peers
#   cis: ["2.1", "2.4"]
#   stig: [V-242427, V-242428, V-242432, V-242433]
#   source: https://etcd.io/docs/v3.6/op-guide/security/
package headroom.rules.security.plain_http

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings
import data.headroom.text

deny contains finding if some finding in result.findings("security/plain_http", problems)

problems contains result.problem(host_profile, host_profile.names.tls, message) if {
	some host_profile in clusters.host_profiles
	settings.is_false(host_profile.facts.tls)
	message := sprintf("clients and peers use plain HTTP (%s is %v)", [host_profile.names.tls, host_profile.facts.tls])
}

# One line for a member.
problems contains result.problem(profile, names[0], message) if {
	some profile in clusters.profiles
	urls := _plain_urls(profile.etcd)
	settings_in_order := [setting | some setting in array.concat(_settings, ["initial_cluster"]); urls[setting]]
	names := [profile.etcd.names[setting] | some setting in settings_in_order]
	url := urls[settings_in_order[0]]
	message := sprintf("%s is plain HTTP, and open to other hosts (%s)%s", [url, names[0], _others(names)])
}

_settings := ["listen_client_urls", "listen_client_http_urls", "listen_peer_urls", "advertise_client_urls", "initial_advertise_peer_urls"]

_others(names) := "" if {
	count(names) == 1
} else := sprintf("; so are %s", [concat(", ", array.slice(names, 1, count(names)))])

# Setting → the first of its URLs that uses plain HTTP and is not a loopback address.
_plain_urls(etcd) := {setting: urls[0] |
	texts := object.union(
		{setting: etcd.settings[setting] | some setting in _settings; not _is_closed(etcd, setting)},
		{"initial_cluster": _peers(etcd)},
	)
	some setting, found in texts
	urls := text.open_urls(found)
	count(urls) > 0
}

# etcd answers where it listens, whatever it advertises.
_is_closed(etcd, setting) if count(text.open_urls(etcd.settings[_listens[setting]])) == 0

_listens := {"advertise_client_urls": "listen_client_urls", "initial_advertise_peer_urls": "listen_peer_urls"}

# NAME=URL of each member, if no other setting has the URLs of peers.
_peers(etcd) := [substring(member, indexof(member, "=") + 1, -1) |
	not etcd.names.listen_peer_urls
	not etcd.names.initial_advertise_peer_urls
	some member in text.items(etcd.settings.initial_cluster)
]
