# METADATA
# title: Suggestions for settings that a release does not know
# description: |
#   The consequence of such a setting, and a setting to use instead. Counterpart of plugins/module_utils/_model/releases.py.
package headroom.releases.suggestions

import data.headroom.model
import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.text

# Form → the consequence of a setting that etcd does not know.
consequence := {
	"key": "etcd silently ignores it",
	"env": "etcd starts without it",
	"flag": "etcd exits at the start",
}

# The end of a message; empty if there is nothing to suggest, and for series that are no longer maintained. given: {form, spelling}.
remedy(version, given) := "" if {
	model.older[spelling.table(version)]
} else := _remedy(version, given, spelling.as_flag(given.form, given.spelling))

# Whether a config file or the environment sets something that this release does not have: a setting of another series, or a
# variable that merely begins with ETCD_, or a flag is one that etcd takes and ignores. Such a setting needs no denial.
is_without_effect(version, given) if {
	given.form != "flag"
	spelling.is_of_any_series(given.form, given.spelling)
	not regex.match(`use |called |resets`, remedy(version, given))
}

is_without_effect(_, given) if {
	given.form == "flag"
	given.spelling in model.ignored_flags
}

is_without_effect(version, given) if {
	given.form == "env"
	not spelling.is_of_any_series(given.form, given.spelling)
	remedy(version, given) == ""
}

_remedy(version, given, flag) := sprintf("; %s", [reason]) if {
	reason := model.series[releases.series(version)].removed[flag]
} else := sprintf("; %s", [reason]) if {
	reason := model.series[releases.series(version)].misread[given.spelling]
} else := sprintf("; here it is called %s", [spelt]) if {
	spelt := _spelling_of(version, given.form, flag)
} else := "; it is a flag only, and the config file has no key for it" if {
	given.form == "key"
	given.spelling in model.series[releases.series(version)].flags_only
} else := _spelling_elsewhere(version, given.form, others[0]) if {
	others := sort({name |
		some name, by_series in model.settings
		some spellings in by_series
		_underscored(flag) in {_underscored(spellings.flag), _underscored(_text_or_empty(spellings.key))}
	})
} else := sprintf("; the nearest that it knows is %s", [close]) if {
	close := _nearest(given, _candidates[_series_or_newest(version)][given.form])
} else := ""

# Variables of other programs begin with ETCD_, too, so only one that is almost a setting counts as misspelt.
_nearest(given, candidates) := sprintf("ETCD_%s", [close]) if {
	given.form == "env"
	close := text.nearest_above(trim_prefix(given.spelling, "ETCD_"), {trim_prefix(candidate, "ETCD_") | some candidate in candidates}, 700)
}

_nearest(given, candidates) := text.nearest(given.spelling, candidates) if given.form != "env"

_series_or_newest(version) := series if {
	series := releases.series(version)
} else := max(object.keys(model.series))

_spelling_of(version, form, name) := spelt if {
	spelt := model.settings[_underscored(name)][releases.series(version)][form]
	spelt != null
}

_candidates := {series: {
	"key": object.keys(release.config_keys),
	"flag": {by_series[series].flag | some _, by_series in model.settings},
	"env": {by_series[series].env | some _, by_series in model.settings},
} |
	some series, release in model.series
}

_spelling_elsewhere(version, form, name) := sprintf("; here it is called %s", [_spelling_of(version, form, name)]) if {
	_spelling_of(version, form, name)
} else := sprintf("; %s has none", [releases.series(version)])

_underscored(name) := replace(name, "-", "_")

_text_or_empty(value) := value if {
	is_string(value)
} else := ""
