# METADATA
# title: Requests stay small
# description: |
#   Each request exists several times on its way: as received, in the raft log, in the write batch, and as sent to each
#   follower. A larger limit lets one client multiply all of these, and allows values that are too large for the log. By
#   default, clients refuse answers over 2 MiB.
# custom:
#   id: memory/max_request_bytes
#   severity: warn
#   fix: Leave max-request-bytes at its default of 1.5 MiB and split larger values
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
	text := sprintf("%s is %s, over the limit of %s", array.concat([name], units.format_sizes_distinctly(bytes, threshold.max_request_bytes)))
}
