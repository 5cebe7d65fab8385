# METADATA
# title: Certificates are issued by a CA
# description: |
#   With auto-tls, every member signs its own certificate, and renews it from time to time. No client can verify it, so
#   a man in the middle goes unnoticed: the traffic is encrypted, but nobody is authenticated.
# custom:
#   id: security/auto_tls
#   severity: warn
#   fix: Use certificates issued by a CA (the role etcd_tls sets one up)
#   fix_in_files: Use certificates issued by a CA
#   cis: ["2.3", "2.6"]
#   stig: [V-242379, V-242380]
#   source: https://etcd.io/docs/v3.6/op-guide/security/#example-4-automatic-self-signed-transport-security
package headroom.rules.security.auto_tls

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

# etcd makes no certificate where it is given one.
_certificates := {"auto_tls": "cert_file", "peer_auto_tls": "peer_cert_file"}

warn contains finding if some finding in result.findings("security/auto_tls", problems)

problems contains result.with_value(result.problem(profile, name, text), false) if {
	some profile in clusters.profiles
	some setting in ["auto_tls", "peer_auto_tls"]
	name := profile.etcd.names[setting]
	settings.is_true(profile.etcd.settings[setting])
	settings.has_no_file(profile.etcd, _certificates[setting])
	text := sprintf("%s is on (%s), so nobody can verify its certificates", [replace(setting, "_", "-"), name])
}
