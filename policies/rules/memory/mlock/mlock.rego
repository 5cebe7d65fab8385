# METADATA
# title: A locked database fits the memlock limit
# description: |
#   memory-mlock keeps the whole database in memory. The kernel allows that up to LimitMEMLOCK of a unit or
#   ulimits.memlock of a container: etcd starts while the database is small, and fails once it has grown. Headroom's own
#   unit sets no such limit when memory-mlock is on, and is bounded by MemoryMax.
# custom:
#   id: memory/mlock
#   severity: deny
#   fix: Raise this limit to at least the quota, or turn memory-mlock off
#   source: https://github.com/etcd-io/bbolt, Options.Mlock; mlock(2), RLIMIT_MEMLOCK
package headroom.rules.memory.mlock

import data.headroom.clusters
import data.headroom.model
import data.headroom.releases
import data.headroom.result
import data.headroom.settings
import data.headroom.units

deny contains finding if some finding in result.findings("memory/mlock", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	name := profile.etcd.names.memory_mlock
	settings.is_true(profile.etcd.settings.memory_mlock)
	limit := profile.etcd.memlock
	quota := _quota(profile.etcd)
	limit.bytes < quota
	[allowed, wanted] := units.format_sizes_distinctly(limit.bytes, quota)
	text := sprintf("%s is on, but etcd may lock only %s (%s), less than the quota of %s", [name, allowed, limit.name, wanted])
}

_quota(etcd) := bytes if {
	bytes := units.parse_size(etcd.settings.quota_backend_bytes)
	bytes > 0
} else := _default_quota(etcd) if _has_default(etcd)

_has_default(etcd) if settings.is_unset(etcd, "quota_backend_bytes")

_has_default(etcd) if units.parse_size(etcd.settings.quota_backend_bytes) == 0

# A unit seldom states the release.
_default_quota(etcd) := model.constants[releases.series(etcd.release)].quota_default

_default_quota(etcd) := of_all if {
	etcd.release == null
	defaults := {constants.quota_default | some constants in model.constants}
	count(defaults) == 1
	some of_all in defaults
}
