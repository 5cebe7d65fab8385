# METADATA
# title: The release knows every setting
# description: |
#   etcd silently ignores an unknown key in its config file, only warns about an unknown environment variable, and exits
#   on an unknown flag. So a renamed or removed setting has no effect, or prevents the member from starting. 3.7 removed
#   all experimental-* settings, and 3.6 removed the v2 API.
# custom:
#   id: flags/unknown_setting
#   severity: deny
#   fix: Spell it as this release does, or remove it
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
	not _is_etcd_2(profile.etcd.version)
	some entry in profile.etcd.given
	not _may_be_etcd_2(profile.etcd.version, entry)
	subject := _subject(profile.etcd.version)
	not spelling.is_known(profile.etcd.version, entry.form, entry.spelling)

	# flags/passed_over reports these.
	not suggestions.is_without_effect(profile.etcd.version, entry)
	text := sprintf("%s has no setting %q (%s): %s%s", [
		subject,
		entry.spelling,
		entry.name,
		suggestions.consequence[entry.form],
		suggestions.remedy(profile.etcd.version, entry),
	])
}

# etcd 2 had flags of its own, such as addr, which the tables lack.
_is_etcd_2(version) if releases.end_of_life(version) < [3, 0]

# If the release is unknown, such a flag shows that it may be etcd 2.
_may_be_etcd_2(null, entry) if {
	trim_prefix(replace(lower(entry.spelling), "_", "-"), "etcd-") in {"addr", "bind-addr", "ca-file", "peer-addr", "peer-bind-addr", "peer-ca-file", "peers", "peers-file"}
}

_subject(version) := sprintf("etcd %s", [version]) if {
	spelling.table(version)
} else := "etcd, in any known release,"
