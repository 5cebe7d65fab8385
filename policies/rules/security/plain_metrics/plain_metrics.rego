# METADATA
# title: Metrics are not open to every host
# description: |
#   Over HTTP, listen-metrics-urls answers anyone who reaches it, without a certificate. Metrics and health tell the size
#   and the load of the database, the release and the members, but no keys or values. Loopback addresses are exempt.
# custom:
#   id: security/plain_metrics
#   severity: warn
#   fix: Listen on 127.0.0.1, restrict the port to the monitoring hosts, or use https
#   source: https://etcd.io/docs/v3.6/op-guide/monitoring/
package headroom.rules.security.plain_metrics

import data.headroom.clusters
import data.headroom.result
import data.headroom.text

warn contains finding if some finding in result.findings("security/plain_metrics", problems)

problems contains result.problem(profile, name, message) if {
	some profile in clusters.profiles
	name := profile.etcd.names.listen_metrics_urls
	url := text.open_urls(profile.etcd.settings.listen_metrics_urls)[0]
	message := sprintf("%s serves metrics over plain HTTP, and is open to other hosts (%s)", [url, name])
}
