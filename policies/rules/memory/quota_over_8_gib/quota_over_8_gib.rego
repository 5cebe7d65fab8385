# METADATA
# title: The quota is within the tested range
# description: |
#   etcd warns at start if the quota is above 8 GiB. A database of that size takes long to send to a new member, to
#   defragment and to restore, and all of it is mapped into memory at start.
# custom:
#   id: memory/quota_over_8_gib
#   severity: warn
#   fix: "Keep the database small: compact sooner, use smaller values, or split the data over several clusters"
#   source: https://etcd.io/docs/v3.6/dev-guide/limit/#storage-size-limit
package headroom.rules.memory.quota_over_8_gib

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/quota_over_8_gib", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	bytes := units.parse_size(profile.etcd.settings.quota_backend_bytes)
	bytes > threshold.quota_bytes
	name := profile.etcd.names.quota_backend_bytes
	[given, limit] := units.format_sizes_distinctly(bytes, threshold.quota_bytes)
	text := sprintf("a quota of %s (%s) is over the limit of %s", [given, name, limit])
}
