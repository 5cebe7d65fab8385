# METADATA
# title: No v2 data is left before the upgrade to 3.6
# description: |
#   3.6 has no v2 API and refuses to start if the store holds v2 data. While enable-v2 is on, clients can write such
#   data.
# custom:
#   id: upgrade/v2_data
#   severity: warn
#   fix: Move the v2 clients to v3, set enable-v2 to false, and check with etcdutl check v2store before the upgrade
#   source: https://etcd.io/docs/v3.6/upgrades/upgrade_3_6/
package headroom.rules.upgrade.v2_data

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("upgrade/v2_data", problems)

problems contains result.problem(profile, name, text) if {
	some profile in clusters.profiles
	releases.series(profile.etcd.release) == "3.5"
	name := profile.etcd.names.enable_v2
	settings.is_true(profile.etcd.settings.enable_v2)
	text := sprintf("enable-v2 is on (%s), but 3.6 does not start with v2 data", [name])
}
