# METADATA
# title: Requests stay small
# description: |
#   Each request is held several times on its way: received, in the raft log, in the write batch, sent to each follower. A
#   larger limit lets one client multiply all of these, and lets values in that outgrow the log. Clients refuse answers
#   over 2 MiB unless they are told otherwise.
# custom:
#   id: memory/max_request_bytes
#   severity: warn
#   fix: Leave max-request-bytes at its default of 1.5 MiB and split what is larger
#   source: https://etcd.io/docs/v3.6/dev-guide/limit/#request-size-limit
package headroom.rules.memory.max_request_bytes

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/max_request_bytes", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	name := profile.etcd.names.max_request_bytes
	bytes := units.parse_size(profile.etcd.settings.max_request_bytes)
	bytes > threshold.max_request_bytes
	text := sprintf("%s is %s, over %s", [name, units.format_size(bytes), units.format_size(threshold.max_request_bytes)])
}
