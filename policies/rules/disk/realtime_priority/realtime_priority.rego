# METADATA
# title: etcd does not starve its host
# description: |
#   While etcd writes in the realtime I/O class, it blocks all other I/O of the host: logging, your shell, and the
#   kernel's own writeback. Best effort at priority 0 also serves etcd first, without blocking the rest.
# custom:
#   id: disk/realtime_priority
#   severity: deny
#   fix: Use best-effort with priority 0
#   source: ionice(1), systemd.exec(5) IOSchedulingClass=
package headroom.rules.disk.realtime_priority

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("disk/realtime_priority", problems)

problems contains result.problem(host_profile, host_profile.names.io_class, text) if {
	some host_profile in clusters.host_profiles
	lower(sprintf("%v", [host_profile.facts.io_class])) in {"realtime", "rt", "1"}
	text := sprintf("the I/O class is realtime (%s is %v)%s", [host_profile.names.io_class, host_profile.facts.io_class, _nice(host_profile)])
}

_nice(host_profile) := sprintf(" and the nice value is %v (%s)", [host_profile.facts.nice, host_profile.names.nice]) if {
	host_profile.facts.nice != null
} else := ""
