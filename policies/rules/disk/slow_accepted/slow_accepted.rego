# METADATA
# title: The disk is fast enough for etcd
# description: |
#   etcd acknowledges a write once a majority of the members has it on disk. If the slowest fsyncs take longer than 10
#   ms, every client waits that long, and when they pile up the cluster loses its leader. Data and WAL on one slow disk
#   also wait for each other.
# custom:
#   id: disk/slow_accepted
#   severity: warn
#   fix: Measure with etcd_disk_check and use a faster disk (local SSD), or waive this rule
#   source: https://etcd.io/docs/v3.6/faq/#what-does-the-etcd-warning-failed-to-send-out-heartbeat-on-time-mean
package headroom.rules.disk.slow_accepted

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("disk/slow_accepted", problems)

problems contains result.problem(host_profile, about, text) if {
	some host_profile in clusters.host_profiles
	[about, accepted] := _accepted(host_profile)
	text := sprintf("%s%s", [accepted, _shared(host_profile.facts)])
}

_accepted(host_profile) := ["etcd_storage_accept_slow_disk", "a disk that fails the check is accepted (etcd_storage_accept_slow_disk is true)"] if {
	settings.is_true(host_profile.facts.slow_disk_accepted)
} else := ["etcd_storage_check_enabled", "the disk is not benchmarked (etcd_storage_check_enabled is false)"] if {
	settings.is_false(host_profile.facts.disk_check)
} else := ["etcd_storage_fsync_p99_max_ms", text] if {
	limit := to_number(host_profile.facts.fsync_p99_max_ms)
	limit > threshold.fsync_p99_max_ms
	text := sprintf("an fsync may take %v ms (etcd_storage_fsync_p99_max_ms), over the limit of %v ms", [limit, threshold.fsync_p99_max_ms])
}

_shared(facts) := ", and WAL and data share the disk" if {
	facts.wal_device in {null, ""}
} else := ""
