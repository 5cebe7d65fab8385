# METADATA
# title: Certificates stay valid
# description: |
#   Before a certificate is valid, and after it has expired, no client that verifies it can connect. If the certificates
#   of all members expire at the same time, the whole cluster stops.
# custom:
#   id: live/certificate_expiry
#   severity: warn
#   fix: Renew the certificate; etcd reads it for each connection, so no restart is needed (docs/certificates.md)
#   source: https://etcd.io/docs/v3.6/op-guide/security/
package headroom.rules.live.certificate_expiry

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result

warn contains finding if some finding in result.findings("live/certificate_expiry", problems)

problems contains result.problem(host_profile, "certificate_days", text) if {
	some host_profile in clusters.host_profiles
	days := host_profile.facts.certificate_days
	days < threshold.certificate_days_min
	text := sprintf("%s %s", [host_profile.names.certificate_days, _left(days)])
}

problems contains result.problem(host_profile, "certificate_start", text) if {
	some host_profile in clusters.host_profiles
	text := sprintf("%s %s", [host_profile.names.certificate_start, _early(host_profile.facts.certificate_start)])
}

# Those that the process's flags name.
problems contains result.problem(host_profile, "certificate_files", text) if {
	some host_profile in clusters.host_profiles
	some file in host_profile.facts.certificate_files
	file.days < threshold.certificate_days_min
	text := sprintf("%s until %s %s", [file.path, file.until, _left(file.days)])
}

problems contains result.problem(host_profile, "certificate_files", text) if {
	some host_profile in clusters.host_profiles
	some file in host_profile.facts.certificate_files
	is_string(file.from)
	text := sprintf("%s %s", [file.path, _early(file.from)])
}

_early(start) := sprintf("is not valid before %s, later than the clock of the host that read it", [start])

_left(days) := sprintf("is valid for only %d more %s, under the minimum of %d", [days, _unit(days), threshold.certificate_days_min]) if {
	days >= 0
} else := "has expired"

_unit(1) := "day"

_unit(days) := "days" if days != 1
