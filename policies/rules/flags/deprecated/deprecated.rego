# METADATA
# title: No setting is about to be removed
# description: |
#   3.6 still accepts the experimental-* settings under their old names. 3.7 silently ignores them in a config file and
#   exits on the flags, so an upgrade loses them.
# custom:
#   id: flags/deprecated
#   severity: warn
#   fix: "Use the new name now: this release accepts both"
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
	some entry in profile.etcd.given
	remedy := model.series[releases.series(profile.etcd.release)].deprecated[spelling.as_flag(entry.form, entry.spelling)]
	text := sprintf("%q (%s) is deprecated in etcd %s and removed in the next minor release: %s", [entry.spelling, entry.name, profile.etcd.version, remedy])
}
