# METADATA
# title: Clients and peers present a certificate
# description: |
#   Without client-cert-auth and without a CA, TLS only encrypts: anyone who reaches the port can read and write
#   everything, unless etcd's own users are set up. At the peer port, anyone can join the cluster. With trusted-ca-file
#   etcd asks for certificates, whatever client-cert-auth is (ServerConfig in client/pkg/transport/listener.go). With
#   client-cert-auth but without trusted-ca-file it accepts those of every CA that the host trusts, public ones included.
# custom:
#   id: security/client_cert_auth
#   severity: deny
#   fix: Set client-cert-auth and peer-client-cert-auth to true, with the CA in trusted-ca-file
#   cis: ["2.2", "2.5"]
#   stig: [V-242423, V-242426]
#   source: https://etcd.io/docs/v3.6/op-guide/security/#example-2-client-to-server-authentication-with-https-client-certificates
package headroom.rules.security.client_cert_auth

import data.headroom.clusters
import data.headroom.releases.accepted_values
import data.headroom.releases.spelling
import data.headroom.result
import data.headroom.settings
import data.headroom.text

deny contains finding if some finding in result.findings("security/client_cert_auth", problems)

problems contains problem if {
	some profile in clusters.profiles
	some setting, port in {"client_cert_auth": "client", "peer_client_cert_auth": "peer"}
	not _cannot_start(profile.etcd, setting)
	[about, how] := _missing(profile.etcd, setting)
	message := sprintf("%s %s, so anyone who reaches the %s port gets access", [_flag(setting), how, port])
	problem := _solvable(result.problem(profile, about, message), profile.etcd.names, setting)
}

# Go verifies certificates with the CAs of the host if it is given none. With auto-tls, security/auto_tls reports the member.
problems contains result.problem(profile, about, message) if {
	some profile in clusters.profiles
	some setting, authority in _ca_files
	not _cannot_start(profile.etcd, setting)
	[about, on, without] := _open_to_every_ca(profile.etcd, setting, authority)
	not _signs_itself(profile.etcd, _auto_tls[setting])
	message := sprintf("%s is on%s, but %s is not set%s, so etcd accepts certificates of every CA that the host trusts", [_flag(setting), on, _flag(authority), without])
}

# flags/wrong_type reports the missing certificate.
_cannot_start(etcd, setting) if {
	some urls in _open_urls(etcd, setting)
	accepted_values.lacks_certificate(etcd, urls)
}

_auto_tls := {"client_cert_auth": "auto_tls", "peer_client_cert_auth": "peer_auto_tls"}

_signs_itself(etcd, setting) if settings.is_true(etcd.settings[setting])

_flag(setting) := replace(setting, "_", "-")

# Of other formats only the URLs in the file count, because other settings are likely beside them.
_open_to_every_ca(etcd, setting, authority) := [name, sprintf(" (%s)", [name]), ""] if {
	name := etcd.names[setting]
	settings.is_true(etcd.settings[setting])
	etcd.format
	settings.has_no_file(etcd, authority)
	count(_open_urls(etcd, setting)) > 0
} else := [name, " by default", sprintf(" (%s)", [name])] if {
	not etcd.format
	settings.is_unset(etcd, setting)
	name := _emptied(etcd, authority)
	_is_reachable(etcd, setting)
}

# Where it is off, the fix is a value.
_solvable(problem, names, setting) := result.with_value(problem, true) if {
	problem.about == names[setting]
} else := problem

_missing(etcd, setting) := [name, sprintf("is %v (%s)", [etcd.settings[setting], name])] if {
	name := etcd.names[setting]
	settings.is_false(etcd.settings[setting])
	_has_no_ca(etcd, _ca_files[setting])
	_is_reachable(etcd, setting)
}

_is_reachable(etcd, setting) if count(_open_urls(etcd, setting)) > 0

# Headroom's role and other formats choose https for the URLs that nobody sets.
_is_reachable(etcd, setting) if {
	urls := _urls[setting][0]
	not etcd.names[urls]
	not urls in etcd.unknown
}

_urls := {"client_cert_auth": ["listen_client_urls", "listen_client_http_urls"], "peer_client_cert_auth": ["listen_peer_urls"]}

# The settings with a URL at which other hosts use TLS.
_open_urls(etcd, setting) := [urls |
	some urls in _urls[setting]
	not urls in etcd.unknown
	_needs_certificates(etcd.settings[urls])
]

_ca_files := {"client_cert_auth": "trusted_ca_file", "peer_client_cert_auth": "peer_trusted_ca_file"}

# Only processes of the same host reach a loopback address or a Unix socket, and security/plain_http reports HTTP elsewhere.
_needs_certificates(urls) if {
	some url in text.items(urls)
	startswith(lower(url), "https://")
	not regex.match(`^(?i)https://(127\.|localhost[:/]|\[::1\])`, url)
}

_has_no_ca(etcd, setting) if {
	etcd.format
	settings.has_no_file(etcd, setting)
}

# Headroom's role sets the CA with TLS, and etcd_extra_config may empty it.
_has_no_ca(etcd, setting) if {
	not etcd.format
	_emptied(etcd, setting)
}

_emptied(etcd, setting) := [entry.name |
	some entry in etcd.given
	entry.value in {"", null}
	spelling.setting(etcd.release, entry.form, entry.spelling) == setting
][0]

# The role turns it on; elsewhere etcd's default is off. Without https there are no certificates at all: see security/plain_http.
_missing(etcd, setting) := [etcd.names[urls[0]], "is not set"] if {
	object.get(etcd, "format", "headroom") != "headroom"
	settings.is_unset(etcd, setting)
	settings.has_no_file(etcd, _ca_files[setting])
	urls := _open_urls(etcd, setting)
}
