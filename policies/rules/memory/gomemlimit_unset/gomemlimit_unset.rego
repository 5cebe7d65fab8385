# METADATA
# title: Go knows the memory limit
# description: |
#   By default, Go lets the heap grow to twice its live data before it collects, regardless of the limit of the unit
#   or of the container. With GOMEMLIMIT it collects earlier when memory is short, instead of being killed.
# custom:
#   id: memory/gomemlimit_unset
#   severity: warn
#   fix: Set GOMEMLIMIT to about nine tenths of the limit, or set etcd_workload and let the plan choose it
#   fix_in_files: Set GOMEMLIMIT to about nine tenths of the limit
#   source: https://go.dev/doc/gc-guide#Memory_limit; etcd has no flag for it
package headroom.rules.memory.gomemlimit_unset

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result
import data.headroom.settings
import data.headroom.units

warn contains finding if some finding in result.findings("memory/gomemlimit_unset", problems)

problems contains result.problem(profile, limit.name, text) if {
	some profile in clusters.profiles
	settings.is_unplanned(profile.etcd)
	settings.is_unset(profile.etcd, "gomemlimit")
	settings.is_unset(profile.etcd, "gogc")
	limit := profile.etcd.limit
	not _is_too_old(profile.etcd.version)
	text := sprintf("the memory limit is %s (%s) but GOMEMLIMIT is not set, so the heap may grow to twice its live data", [
		units.format_size(limit.bytes),
		limit.name,
	])
}

# Without a stated release, one that is supported is assumed: all of them read GOMEMLIMIT.
_is_too_old(version) if semver.compare(releases.parse(version), releases.gomemlimit_since(version)) < 0
