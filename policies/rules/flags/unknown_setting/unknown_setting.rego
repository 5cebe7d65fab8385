# METADATA
# title: Every setting is one that the version knows
# description: |
#   etcd passes over an unknown key of its config file in silence, only warns of an unknown variable in its environment, and exits on an
#   unknown flag. So a setting that was renamed or removed is gone, or keeps the member from starting. All experimental-* settings are
#   gone in 3.7, and the v2 API in 3.6.
# custom:
#   id: flags/unknown_setting
#   severity: deny
#   fix: Spell it as this version does, or remove it
#   source: embed.Config of each release; https://etcd.io/docs/v3.6/upgrades/
package headroom.rules.flags.unknown_setting

import data.headroom.clusters
import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.releases.suggestions
import data.headroom.result

deny contains finding if some finding in result.findings("flags/unknown_setting", problems)

problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	some entry in profile.etcd.given
	subject := _subject(profile.etcd.version)
	not spelling.is_known(profile.etcd.version, entry.form, entry.spelling)
	text := sprintf("%s knows no setting %q (%s): %s%s", [
		subject,
		entry.spelling,
		entry.name,
		suggestions.consequence[entry.form],
		suggestions.remedy(profile.etcd.version, entry),
	])
}

_subject(version) := sprintf("etcd %s", [version]) if releases.series(version)

# Where the release is not known: what none of them knows.
_subject(null) := "etcd, whatever its release,"
