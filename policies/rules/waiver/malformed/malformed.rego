# METADATA
# title: Every waiver is valid
# description: |
#   An invalid waiver waives nothing, although its author believes that it does.
# custom:
#   id: waiver/malformed
#   severity: deny
#   fix: Write rule, reason, expires and one of host, group or cluster
#   source: docs/policies/waivers.md
package headroom.rules.waiver.malformed

import data.headroom.effective_thresholds.threshold
import data.headroom.result
import data.headroom.waivers

deny contains finding if some finding in result.findings("waiver/malformed", problems)

problems contains {"inventory": waivers.folder(problem.file), "hosts": set(), "about": problem.file, "text": sprintf("%s: %s", [problem.file, problem.text])} if {
	some problem in waivers.malformed
}

problems contains {"inventory": waivers.folder(entry.file), "hosts": set(), "about": entry.file, "text": text} if {
	some entry in waivers.too_late
	text := sprintf("%s: waiver %d expires on %q, more than %d days ahead", [
		entry.file,
		entry.number,
		entry.waiver.expires,
		threshold.waiver_days_max,
	])
}
