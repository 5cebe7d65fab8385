# METADATA
# title: Thresholds
# description: |
#   The defaults of policies/data/thresholds.yml, overridden by the user's data.headroom.thresholds. The package is not called thresholds,
#   because it would conflict with that data.
package headroom.effective_thresholds

import data.headroom.defaults

threshold := object.union(defaults.thresholds, _by_user)

_by_user := given if {
	given := data.headroom.thresholds
} else := {}
