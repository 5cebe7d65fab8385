# METADATA
# title: Feature gates of etcd
# description: Since 3.6, feature-gates replaces some settings of 3.5, which 3.6 still accepts.
package headroom.releases.feature_gates

import data.headroom.model
import data.headroom.releases
import data.headroom.releases.spelling

# "feature gate NAME" → the names of the entries that set it. 3.6 exits on a setting beside its gate, and looks for the gate's name anywhere in
# feature-gates. Source: SetFeatureGatesFromExperimentalFlags in server/embed/config.go of 3.6.
set_twice(release, given) := {sprintf("feature gate %s", [gate]): array.concat(names, in_gates) |
	some gate, names in _replaced(release, given)
	in_gates := [entry.name |
		some entry in given
		spelling.setting(release, entry.form, entry.spelling) == "feature_gates"
		contains(spelling.as_text(entry.value), gate)
	]
	count(in_gates) > 0
}

# Gate → the names of the entries that set it by its setting of 3.5.
_replaced(release, given) := {gate: names |
	gates := model.series[releases.series(release)].gates_of_settings
	some setting, gate in gates
	names := [entry.name | some entry in given; entry.value != null; spelling.as_flag(entry.form, entry.spelling) == setting]
	count(names) > 0
}
