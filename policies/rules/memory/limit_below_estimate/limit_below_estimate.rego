# METADATA
# title: The memory limit covers what etcd needs
# description: |
#   A member that reaches its limit is killed. At the next start it replays its log, which needs even more memory, and
#   it is killed again. The estimate covers the heap at its peak, the start, the pages of the database that must stay in
#   memory, and the kernel's share. In a file without any workload, a modest one is assumed, and the finding is a
#   warning.
# custom:
#   id: memory/limit_below_estimate
#   severity: deny
#   fix: Give more memory, use fewer or smaller values, or run a newer release; etcd_memory_estimate shows each part
#   fix_in_files: Give more memory, use fewer or smaller values, or run a newer release
#   source: https://github.com/etcd-io/etcd/issues/17763, and model/memory.yml for what each part costs
package headroom.rules.memory.limit_below_estimate

import data.headroom.estimates
import data.headroom.memory
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/limit_below_estimate", problems)

warn contains finding if {
	estimates.assume_a_workload
	some finding in result.assumed("memory/limit_below_estimate", problems)
}

problems contains problem if {
	some profile in estimates.profiles
	estimates.exceeds(profile)
	shortage := estimates.shortage(profile)
	[required, available] := units.format_sizes_distinctly(shortage.bytes, shortage.limit)

	# memory/restart_spike reports those.
	not estimates.fails_only_at_restart(profile)
	text := sprintf("etcd %s needs %s at its peak (%s) but has %s (%s)", [
		profile.etcd.version,
		required,
		_largest(profile.estimate.components),
		available,
		shortage.name,
	])
	problem := result.based_on_estimate(profile, result.problem(profile, shortage.name, text))
}

# The two largest parts of the heap, which explain the figure.
_largest(components) := concat(", ", [text |
	some [bytes, name] in array.slice(
		array.reverse(sort([[bytes, name] | some name, bytes in components; name in (memory.heap | memory.spikes)])),
		0, 2,
	)
	text := sprintf("%s %s", [replace(name, "_", " "), units.format_size(bytes)])
])
