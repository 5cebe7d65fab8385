# METADATA
# title: Feature gates of etcd
# description: Since 3.6, feature-gates replaces some settings of 3.5, which 3.6 still accepts.
package headroom.releases.feature_gates

import data.headroom.model
import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.text

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

# What etcd expects instead of a value of feature-gates; undefined if it accepts the value. null as in spelling.setting(). Counterpart of
# plugins/module_utils/_model/refused_values.py. Source: featureGate.Set in pkg/featuregate.
expected(version, value) := "names with true or false, such as InitialCorruptCheck=true,CompactHashCheck=true" if {
	not regex.match(sprintf(`^(%s)?(,(%s)?)*$`, [_gate, _gate]), value)
} else := sprintf("gates of its release, and %s is none%s", [unknown, _nearest(unknown, _known(version))]) if {
	unknown := min(_set_to(value, `\w+`) - _known(version))
} else := "LeaseCheckpoint=true beside LeaseCheckpointPersist=true" if {
	_needs_checkpoint(_set_to(value, _true), _set_to(value, `[0fF]\w*`))
}

_gate := sprintf(`\s*\w+\s*=\s*(%s|0|f|F|FALSE|false|False)\s*`, [_true])

_true := `(?:1|t|T|TRUE|true|True)`

# The gates of a release; undefined for a series without gates or beyond the model.
_known(null) := {gate | some series in model.series; some gate in series.feature_gates}

_known(version) := {gate | some gate in gates} if {
	gates := model.series[spelling.table(version)].feature_gates
	count(gates) > 0
}

_set_to(value, pattern) := {found[1] | some found in regex.find_all_string_submatch_n(sprintf(`(\w+)\s*=\s*%s\s*(?:,|$)`, [pattern]), value, -1)}

_nearest(gate, known) := sprintf("; the nearest that it knows is %s", [text.nearest(gate, known)]) if {
	text.nearest(gate, known)
} else := ""

_needs_checkpoint(on, off) if {
	_is_on("LeaseCheckpointPersist", on, off)
	not _is_on("LeaseCheckpoint", on, off)
}

_is_on(gate, on, _) if gate in on

# Both gates are alpha.
_is_on(gate, on, off) if {
	"AllAlpha" in on
	not gate in off
}
