# METADATA
# title: A locked database may be locked
# description: |
#   memory-mlock keeps the whole database in memory. The kernel allows that up to a limit, LimitMEMLOCK of a unit or
#   ulimits.memlock of a container: etcd starts while the database is small, and no more once it has grown. Headroom's own unit
#   sets no such limit where memory-mlock is on: there MemoryMax is the bound.
# custom:
#   id: memory/mlock
#   severity: deny
#   fix: Raise ulimits.memlock to the quota at least, or leave memory-mlock off
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
	allowed := profile.etcd.memlock
	is_number(allowed)
	quota := _quota(profile.etcd)
	allowed < quota
	text := sprintf("%s is on, and the container may lock %s (ulimits.memlock), less than a quota of %s", [
		name,
		units.format_size(allowed),
		units.format_size(quota),
	])
}

_quota(etcd) := bytes if {
	bytes := units.parse_size(etcd.settings.quota_backend_bytes)
	bytes > 0
} else := model.constants[releases.series(etcd.version)].quota_default
