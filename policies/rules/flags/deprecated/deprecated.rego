# METADATA
# title: No setting is about to be removed
# description: |
#   3.6 still accepts the experimental-* settings under their old names. 3.7 silently ignores them in a config file and
#   exits on the flags, so an upgrade loses them. In the same way, 3.6 exits on flags of 3.5 such as enable-v2 and proxy, whatever
#   their value. If the release is unknown, the rule names those flags that a release removed without a successor.
# custom:
#   id: flags/deprecated
#   severity: warn
#   fix: Use the new name, which this release accepts too, or remove the setting
#   source: https://etcd.io/docs/v3.6/upgrades/upgrade_3_6/; embed.Config of each release
package headroom.rules.flags.deprecated

import data.headroom.clusters
import data.headroom.model
import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.result

warn contains finding if some finding in result.findings("flags/deprecated", problems)

problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	not releases.end_of_life(profile.etcd.version)
	some entry in profile.etcd.given
	spelling.is_known(profile.etcd.release, entry.form, entry.spelling)
	remedy := model.series[releases.series(profile.etcd.release)].deprecated[spelling.as_flag(entry.form, entry.spelling)]
	_loses(entry.form, remedy)
	text := sprintf("%q (%s) is deprecated in etcd %s and removed in the next minor release: %s", [entry.spelling, entry.name, profile.etcd.version, remedy])
}

problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	profile.etcd.version == null
	some entry in profile.etcd.given
	entry.form == "flag"
	since := min([name | some name, series in model.series; series.removed[entry.spelling]])
	reason := model.series[since].removed[entry.spelling]
	not contains(reason, "use ")
	text := sprintf("%q (%s) was removed in etcd %s (%s), and every later release exits on the flag", [entry.spelling, entry.name, since, reason])
}

# A variable or a key that the next release ignores does no harm if nothing takes its place.
_loses("flag", _)

_loses(_, remedy) if contains(remedy, "use ")
