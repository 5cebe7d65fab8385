# METADATA
# title: What is waived
# description: |
#   The findings that somebody has decided to live with, of all rules, as warnings that name their waiver: waived is not hidden. Rules
#   know nothing of it. `--namespace 'headroom.rules.*'` asks each rule by itself and not for these: `--namespace headroom.waived` does.
package headroom.waived

import data.headroom.result
import data.headroom.waivers

warn contains finding if {
	some id, _ in waivers.by_rule
	[topic, name] := split(id, "/")
	some finding in result.waived(id, _topics[topic][name].problems)
}

# One by one: what rules ask for, as waiver/unused does, cannot ask for all rules. tests/policies/test_conventions.py sees that none is
# missing.
_topics := {
	"compaction": data.headroom.rules.compaction,
	"defragmentation": data.headroom.rules.defragmentation,
	"disk": data.headroom.rules.disk,
	"durability": data.headroom.rules.durability,
	"flags": data.headroom.rules.flags,
	"inventory": data.headroom.rules.inventory,
	"memory": data.headroom.rules.memory,
	"placement": data.headroom.rules.placement,
	"security": data.headroom.rules.security,
	"topology": data.headroom.rules.topology,
	"upgrade": data.headroom.rules.upgrade,
	"version": data.headroom.rules.version,
}
