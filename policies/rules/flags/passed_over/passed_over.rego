# METADATA
# title: Every setting has an effect
# description: |
#   etcd ignores keys of its config file and variables that its release does not know: the v2 proxy since 3.6, debug since 3.5, or
#   variables of other programs that begin with ETCD_. It also ignores some flags of its first releases, such as --snapshot.
#   They have no effect, but look like settings.
# custom:
#   id: flags/passed_over
#   severity: warn
#   fix: Remove such settings
#   source: server/embed/config.go and server/etcdmain/config.go of each series; model/releases.yml
package headroom.rules.flags.passed_over

import data.headroom.clusters
import data.headroom.releases.spelling
import data.headroom.releases.suggestions
import data.headroom.result

warn contains finding if some finding in result.findings("flags/passed_over", problems)

problems contains result.problem(profile, names[0], text) if {
	some profile in clusters.profiles
	names := sort([entry.name |
		some entry in profile.etcd.given
		not spelling.is_known(profile.etcd.version, entry.form, entry.spelling)
		suggestions.is_without_effect(profile.etcd.version, entry)
	])
	count(names) > 0
	text := sprintf("%s ignores %s", [_subject(profile.etcd.version), concat(", ", names)])
}

_subject(version) := sprintf("etcd %s", [version]) if {
	spelling.table(version)
} else := "etcd, in any known release,"
