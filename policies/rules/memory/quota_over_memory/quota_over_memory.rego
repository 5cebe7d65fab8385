# METADATA
# title: The database fits beside the heap
# description: |
#   The database is mapped into memory. One that is larger than what the heap leaves is read from the disk again and
#   again, and a member that thrashes loses its elections long before the kernel kills it. A negative quota is none at
#   all.
# custom:
#   id: memory/quota_over_memory
#   severity: deny
#   fix: Lower etcd_quota_backend_bytes, or give more memory
#   source: docs/memory.md, section on bbolt
package headroom.rules.memory.quota_over_memory

import data.headroom.clusters
import data.headroom.memory
import data.headroom.model
import data.headroom.result

deny contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

_problems := {problem |
	some profile in clusters.estimated
	_decided(profile.etcd)
	quota := _bytes(profile.estimate.settings.quota_backend_bytes, profile)
	left := profile.etcd.limit.bytes - profile.estimate.rss_anon_peak
	quota > left
	problem := {
		"inventory": profile.inventory,
		"hosts": profile.hosts,
		"about": object.get(profile.etcd.names, "quota_backend_bytes", profile.etcd.limit.name),
		"text": sprintf("a quota of %s is over the %s that the heap (%s) leaves of %s (%s)", [
			memory.format_size(quota),
			memory.format_size(max([left, 0])),
			memory.format_size(profile.estimate.rss_anon_peak),
			memory.format_size(profile.etcd.limit.bytes),
			profile.etcd.limit.name,
		]),
	}
} | {problem |
	some profile in clusters.profiles
	memory.parse_count(profile.etcd.settings.quota_backend_bytes) < 0
	name := profile.etcd.names.quota_backend_bytes
	problem := {
		"inventory": profile.inventory,
		"hosts": profile.hosts,
		"about": name,
		"text": sprintf("%s is negative: no quota at all, so the database grows until the disk is full", [name]),
	}
}

# A quota that the plan is to compute is none to judge.
_decided(etcd) if etcd.names.quota_backend_bytes

_decided(etcd) if not etcd.planned

_bytes(quota, _) := quota if quota > 0

_bytes(0, profile) := model.constants[profile.estimate.series].quota_default
