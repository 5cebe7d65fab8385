# METADATA
# title: Certificates come from a CA
# description: |
#   With auto-tls every member signs its own certificate, anew after some time. No client can check it, so anybody can
#   stand in between; it hides, and proves nothing.
# custom:
#   id: security/auto_tls
#   severity: warn
#   fix: Use certificates of a CA (role etcd_tls makes one)
#   source: https://etcd.io/docs/v3.6/op-guide/security/#example-4-automatic-self-signed-transport-security
package headroom.rules.security.auto_tls

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("security/auto_tls", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	some setting in ["auto_tls", "peer_auto_tls"]
	name := profile.etcd.names[setting]
	settings.is_true(profile.etcd.settings[setting])
	text := sprintf("%s is on (%s): nobody can check who answers", [replace(setting, "_", "-"), name])
}
