# METADATA
# title: etcd accepts the timings
# description: |
#   etcd exits at start if the heartbeat interval is 0, or if the election timeout is below five heartbeats or above 50 s.
# custom:
#   id: topology/election_refused
#   severity: deny
#   fix: Set election-timeout to ten times heartbeat-interval, and heartbeat-interval to 5000 at most
#   source: server/embed/config.go (Config.Validate)
package headroom.rules.topology.election_refused

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("topology/election_refused", problems)

problems contains result.problem(profile, about, text) if {
	some profile in clusters.profiles
	[heartbeat, heartbeat_origin] := settings.effective_number(profile.etcd, "heartbeat_interval")
	[election, election_origin] := settings.effective_number(profile.etcd, "election_timeout")
	reason := _refused(heartbeat, heartbeat_origin, election)
	text := sprintf("election-timeout is %d ms (%s), %s: etcd does not start", [election, election_origin, reason])
	about := _written(election_origin, heartbeat_origin)
}

problems contains result.problem(profile, origin, text) if {
	some profile in clusters.profiles
	[heartbeat, origin] := settings.effective_number(profile.etcd, "heartbeat_interval")
	heartbeat == 0
	text := sprintf("heartbeat-interval is 0 ms (%s), but must be above 0: etcd does not start", [origin])
}

# The setting that the file has; no variable has the name of a default.
_written(election_origin, heartbeat_origin) := heartbeat_origin if {
	contains(election_origin, " ")
} else := election_origin

_refused(heartbeat, origin, election) := sprintf("under five times the heartbeat-interval of %d ms (%s)", [heartbeat, origin]) if {
	election < heartbeat * 5
} else := "over 50 s" if {
	election > 50000
}
