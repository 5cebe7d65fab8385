# METADATA
# title: A role's default memory limit covers the quota
# description: |
#   By default, kubespray limits etcd in docker to 512M on hosts with less than 4 GiB of memory, and leaves the quota at
#   2 GiB. Such a member is killed long before its database reaches the quota. The linter does not know how much memory
#   the hosts have.
# custom:
#   id: memory/default_limit
#   severity: warn
#   fix: Set the limit (etcd_memory_limit, 0 for none), or lower quota-backend-bytes
#   source: https://github.com/kubernetes-sigs/kubespray/issues/3053
package headroom.rules.memory.default_limit

import data.headroom.clusters
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/default_limit", problems)

problems contains result.problem(profile, profile.etcd.names.quota_backend_bytes, text) if {
	some profile in clusters.profiles
	limit := profile.etcd.default_limit
	quota := units.parse_size(profile.etcd.settings.quota_backend_bytes)
	quota > limit.bytes
	[allowed, wanted] := units.format_sizes_distinctly(limit.bytes, quota)
	text := sprintf("%s is %s %s, under the quota of %s (%s)", [
		limit.name,
		allowed,
		limit.where,
		wanted,
		profile.etcd.names.quota_backend_bytes,
	])
}
