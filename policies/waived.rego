# METADATA
# title: Waived findings
# description: |
#   Waived findings of all rules, as warnings that name their waiver. `--namespace 'headroom.rules.*'` leaves them out; add
#   `--namespace headroom.waived` to it.
package headroom.waived

import data.headroom.result
import data.headroom.waivers

warn contains finding if {
	some id, _ in waivers.by_rule
	[topic, name] := split(id, "/")
	some finding in result.waived(id, _problems(topic, name))
}

# One line for each topic rather than data.headroom.rules[topic], which would be recursive: waiver/unused calls this library. Not an object of
# topics, for which OPA would evaluate all rules. Checked for completeness by tests/policies/test_conventions.py.
_problems("compaction", name) := data.headroom.rules.compaction[name].problems

_problems("defragmentation", name) := data.headroom.rules.defragmentation[name].problems

_problems("disk", name) := data.headroom.rules.disk[name].problems

_problems("durability", name) := data.headroom.rules.durability[name].problems

_problems("flags", name) := data.headroom.rules.flags[name].problems

_problems("inventory", name) := data.headroom.rules.inventory[name].problems

_problems("live", name) := data.headroom.rules.live[name].problems

_problems("memory", name) := data.headroom.rules.memory[name].problems

_problems("placement", name) := data.headroom.rules.placement[name].problems

_problems("security", name) := data.headroom.rules.security[name].problems

_problems("topology", name) := data.headroom.rules.topology[name].problems

_problems("upgrade", name) := data.headroom.rules.upgrade[name].problems

_problems("version", name) := data.headroom.rules.version[name].problems
