# METADATA
# title: Every waiver matches a finding
# description: |
#   A waiver without a finding would hide a future finding. Either the problem is fixed, or the host, group or cluster
#   has another name.
# custom:
#   id: waiver/unused
#   severity: warn
#   fix: Remove it, or correct the name
#   source: docs/policies/waivers.md
package headroom.rules.waiver.unused

import data.headroom.result
import data.headroom.waived
import data.headroom.waivers

warn contains finding if some finding in result.findings("waiver/unused", problems)

problems contains {"inventory": waivers.folder(entry.file), "hosts": set(), "about": entry.file, "text": text} if {
	used := {[finding.waived.file, finding.waived.number] | some finding in waived.warn}
	some entry in waivers.valid
	not [entry.file, entry.number] in used
	text := sprintf("%s: waiver %d for %s, %s, waives nothing%s", [entry.file, entry.number, entry.waiver.rule, _scope(entry.waiver), _doubt(entry.file)])
}

# The waiver may be right, so nobody should remove it.
_doubt(file) := sprintf(": whether %s is below its folder is unknown, so give both paths as absolute or relative ones", [concat(", ", sort(names))]) if {
	names := waivers.incomparable(file)
	count(names) > 0
} else := ""

_scope(waiver) := [sprintf("%s %q", [scope, waiver[scope]]) | some scope in ["host", "group", "cluster"]; waiver[scope]][0]
