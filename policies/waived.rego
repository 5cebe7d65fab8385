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
	some finding in result.waived(id, _topics[topic][name].problems)
}

# A list of topics rather than data.headroom.rules, which would be recursive: waiver/unused calls this library. Checked for completeness by
# tests/policies/test_conventions.py.
_topics := {
	"compaction": data.headroom.rules.compaction,
	"defragmentation": data.headroom.rules.defragmentation,
	"disk": data.headroom.rules.disk,
	"durability": data.headroom.rules.durability,
	"flags": data.headroom.rules.flags,
	"inventory": data.headroom.rules.inventory,
	"live": data.headroom.rules.live,
	"memory": data.headroom.rules.memory,
	"placement": data.headroom.rules.placement,
	"security": data.headroom.rules.security,
	"topology": data.headroom.rules.topology,
	"upgrade": data.headroom.rules.upgrade,
	"version": data.headroom.rules.version,
}
