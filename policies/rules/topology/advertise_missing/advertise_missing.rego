# METADATA
# title: A member with listen-client-urls has advertise-client-urls
# description: |
#   etcd exits at start if listen-client-urls is set by a flag or a variable, and advertise-client-urls is not: the
#   default, http://localhost:2379, would be of no use to clients on other hosts. With a config file, etcd starts.
#   The rule judges only members whose settings are all in the file: services of etcd's own images, and systemd units.
# custom:
#   id: topology/advertise_missing
#   severity: deny
#   fix: Set advertise-client-urls to the URLs at which clients reach this member
#   source: server/etcdmain/config.go (configFromCmdLine); server/embed/config.go (Config.Validate)
package headroom.rules.topology.advertise_missing

import data.headroom.clusters
import data.headroom.releases.spelling
import data.headroom.result
import data.headroom.settings.given

deny contains finding if some finding in result.findings("topology/advertise_missing", problems)

problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	given.states_everything(profile)
	not _has_unknown(profile.etcd)
	not _is_exempt(profile.etcd)
	entry := _entries(profile.etcd, {"listen_client_urls"})[0]
	entry.value != ""
	text := sprintf("listen-client-urls is set (%s) without advertise-client-urls: etcd does not start", [entry.name])
}

_has_unknown(etcd) if count(etcd.unknown & {"advertise_client_urls", "discovery", "extra_config", "proxy"}) > 0

# A member, or until 3.5 a proxy of etcd 2, for which etcd does not require it.
_is_exempt(etcd) if count(_entries(etcd, {"advertise_client_urls", "discovery"})) > 0

_is_exempt(etcd) if {
	some entry in etcd.given
	entry.spelling in {"proxy", "ETCD_PROXY"}
}

_entries(etcd, settings) := [entry |
	some entry in etcd.given
	spelling.setting(etcd.release, entry.form, entry.spelling) in settings
]
