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

problems contains result.problem(place, place.names.io_class, text) if {
	some place in clusters.host_profiles
	lower(sprintf("%v", [place.facts.io_class])) in {"realtime", "rt", "1"}
	text := sprintf("the I/O class is realtime (%s is %v)%s", [place.names.io_class, place.facts.io_class, _nice(place)])
}

_nice(place) := sprintf(" and the nice value is %v (%s)", [place.facts.nice, place.names.nice]) if {
	place.facts.nice != null
} else := ""
