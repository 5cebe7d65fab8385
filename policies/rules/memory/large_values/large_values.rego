# METADATA
# title: Values are small
# description: |
#   Every member keeps the last thousands of writes in memory, in full, so the mean value size is multiplied: with 3.6's
#   defaults, values of 1 MB cost 5 GB before the first client reads.
# custom:
#   id: memory/large_values
#   severity: deny
#   fix: Split the value into several keys, or store it elsewhere and only its address in etcd
#   source: https://github.com/etcd-io/etcd/issues/13889, and the measurements in model/memory.yml
package headroom.rules.memory.large_values

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/large_values", problems)

problems contains result.problem(profile, "etcd_workload", text) if {
	some profile in clusters.profiles
	bytes := units.parse_size(profile.etcd.workload.value_size)
	bytes > threshold.large_value_bytes
	text := sprintf("values of %s (etcd_workload.value_size) are over the limit of %s", units.format_sizes_distinctly(bytes, threshold.large_value_bytes))
}
