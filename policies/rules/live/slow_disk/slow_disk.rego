# METADATA
# title: The disk is fast enough
# description: |
#   A member answers a write after it has synchronized its log. With a slow disk clients wait, heartbeats are late, and the leader changes under load.
# custom:
#   id: live/slow_disk
#   severity: warn
#   fix: Give etcd a dedicated SSD, or move the other services off the disk (module etcd_disk_live_info measures it again)
#   source: https://etcd.io/docs/v3.6/faq/#what-does-the-etcd-warning-failed-to-send-out-heartbeat-on-time-mean
package headroom.rules.live.slow_disk

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result

warn contains finding if some finding in result.findings("live/slow_disk", problems)

problems contains result.problem(host_profile, fact, text) if {
	some host_profile in clusters.host_profiles
	some fact, [operation, limit] in {
		"fsync_p99_us": ["WAL fsyncs", threshold.fsync_p99_max_ms],
		"commit_p99_us": ["backend commits", threshold.commit_p99_max_ms],
	}
	host_profile.facts[fact] > limit * 1000
	text := sprintf("the 99th percentile of its %s is %v ms, over the limit of %v ms (%s)", [
		operation,
		host_profile.facts[fact] / 1000,
		limit,
		host_profile.names[fact],
	])
}
