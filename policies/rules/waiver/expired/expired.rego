# METADATA
# title: No waiver is past its date
# description: |
#   A waiver is a decision for a limited time. After its last day the finding counts again, and this rule denies until
#   someone reviews the waiver.
# custom:
#   id: waiver/expired
#   severity: deny
#   fix: Fix the waived finding, or review the waiver and set a new date
#   source: docs/policies/waivers.md
package headroom.rules.waiver.expired

import data.headroom.result
import data.headroom.waivers

deny contains finding if some finding in result.findings("waiver/expired", problems)

problems contains {"inventory": waivers.folder(entry.file), "hosts": set(), "about": entry.file, "text": text} if {
	some entry in waivers.expired
	text := sprintf("%s: waiver %d for %s expired on %s (%s)", [
		entry.file,
		entry.number,
		entry.waiver.rule,
		entry.waiver.expires,
		entry.waiver.reason,
	])
}
