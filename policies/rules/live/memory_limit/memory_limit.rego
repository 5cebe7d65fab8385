# METADATA
# title: The memory limit leaves room
# description: |
#   Anonymous memory cannot be reclaimed: at the limit the kernel kills the member. The page cache of its database counts towards the limit too,
#   but the kernel reclaims it, so it is not compared.
# custom:
#   id: live/memory_limit
#   severity: warn
#   fix: Raise the limit, or use the flags of the plan for the measured workload (playbook audit prints them)
#   source: https://docs.kernel.org/admin-guide/cgroup-v2.html
package headroom.rules.live.memory_limit

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("live/memory_limit", problems)

problems contains result.problem(host_profile, "memory_limit", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.anonymous * 1000 >= host_profile.facts.memory_limit * threshold.memory_use_permille
	text := sprintf("the member uses %s of anonymous memory, %d %% of its limit of %s", [
		units.format_size(host_profile.facts.anonymous),
		floor((host_profile.facts.anonymous * 100) / host_profile.facts.memory_limit),
		units.format_size(host_profile.facts.memory_limit),
	])
}

problems contains result.problem(host_profile, "oom_kills", text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.oom_kills > 0
	text := sprintf("the kernel killed %s of its control group at the memory limit", [_processes(host_profile.facts.oom_kills)])
}

_processes(number) := "1 process" if number == 1

else := sprintf("%d processes", [number])
