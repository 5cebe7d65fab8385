# METADATA
# title: Thresholds
# description: |
#   The limits of policies/data/thresholds.yml, each of which a user may override with a file of their own below `headroom.thresholds`.
package headroom.effective_thresholds

import data.headroom.defaults

threshold := object.union(defaults.thresholds, _own)

_own := stated if {
	stated := data.headroom.thresholds
} else := {}
