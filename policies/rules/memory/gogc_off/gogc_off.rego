# METADATA
# title: Go collects garbage
# description: |
#   With GOGC=off, Go collects garbage only when the heap nears GOMEMLIMIT. Without GOMEMLIMIT it never does, and the heap
#   grows until the kernel kills etcd.
# custom:
#   id: memory/gogc_off
#   severity: deny
#   fix: Set GOMEMLIMIT to about nine tenths of the memory limit, or leave GOGC out
#   source: https://go.dev/doc/gc-guide#GOGC
package headroom.rules.memory.gogc_off

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("memory/gogc_off", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	settings.is_collector_off(profile.etcd)
	settings.is_unset(profile.etcd, "gomemlimit")
	name := profile.etcd.names.gogc
	text := sprintf("%s is %v and GOMEMLIMIT is not set, so Go never collects garbage and the heap only grows", [name, profile.etcd.settings.gogc])
}
