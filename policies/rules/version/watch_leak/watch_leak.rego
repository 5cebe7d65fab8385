# METADATA
# title: Watches only show what their user may read
# description: |
#   In some releases, a watch shows keys that its user has no permission to read. This matters only where etcd's own
#   users and roles are in use, which an inventory does not show.
# custom:
#   id: version/watch_leak
#   severity: warn
#   fix: Upgrade to the newest release of the series, or waive this rule where etcd has no users (etcdctl auth status)
#   source: CHANGELOG-3.5.md, CHANGELOG-3.6.md, CHANGELOG-3.7.md
package headroom.rules.version.watch_leak

import data.headroom.clusters
import data.headroom.releases
import data.headroom.result

warn contains finding if some finding in result.findings("version/watch_leak", problems)

problems contains result.problem(profile, "etcd_version", text) if {
	some profile in clusters.profiles
	not "version" in profile.etcd.unknown
	some bug in releases.bugs(profile.etcd.version)
	bug.only_with_auth
	bug.fixed != null
	text := sprintf("etcd %s: %s; fixed in %s", [profile.etcd.version, bug.text, bug.fixed])
}
