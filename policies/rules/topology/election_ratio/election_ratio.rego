# METADATA
# title: The election timeout is at least ten heartbeats
# description: |
#   With an election timeout of a few heartbeats, a short pause of the disk or of the network counts as the death of the
#   leader. Ten heartbeats leave a margin; the heartbeat interval itself should be about the round-trip time between
#   members.
# custom:
#   id: topology/election_ratio
#   severity: warn
#   fix: Set election-timeout to ten times heartbeat-interval, and heartbeat-interval to the round-trip time (100 ms suits one site)
#   source: https://etcd.io/docs/v3.6/tuning/#time-parameters
package headroom.rules.topology.election_ratio

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("topology/election_ratio", problems)

problems contains _solvable(result.problem(profile, election_origin, text), heartbeat * 10) if {
	some profile in clusters.profiles
	[heartbeat, heartbeat_origin] := settings.effective_number(profile.etcd, "heartbeat_interval")
	[election, election_origin] := settings.effective_number(profile.etcd, "election_timeout")
	election < heartbeat * threshold.election_ratio

	# Below five heartbeats etcd does not start: topology/election_refused reports that.
	election >= heartbeat * 5
	text := sprintf("election-timeout is %d ms (%s), under %d times the heartbeat-interval of %d ms (%s)%s%s", [
		election,
		election_origin,
		threshold.election_ratio,
		heartbeat,
		heartbeat_origin,
		_where(election_origin),
		_too_slow(heartbeat),
	])
}

# Source: maxElectionMs in server/embed/config.go.
_longest := 50000

# Where etcd accepts the timeout, the fix is a value.
_solvable(problem, timeout) := problem if {
	timeout > _longest
} else := result.with_value(problem, timeout)

_too_slow(heartbeat) := sprintf("; etcd accepts an election-timeout of %d ms at most, so lower the heartbeat-interval to %d ms or less", [_longest, _longest / 10]) if {
	heartbeat * 10 > _longest
} else := ""

# Some roles fix both.
_where(origin) := "; the role's template has to set others" if {
	contains(origin, "'s fixed ")
} else := ""
