# METADATA
# title: Applications do not have the role root
# description: |
#   The role root may read and change every key, all users and the members themselves. An application needs only its own
#   keys. Headroom's own user has the role, because etcd allows snapshots, defragmentation and changes of members only
#   with it.
# custom:
#   id: security/root_role
#   severity: warn
#   fix: Give the user a role with the keys that it needs (etcd_auth_roles)
#   source: https://etcd.io/docs/v3.6/op-guide/authentication/rbac/
package headroom.rules.security.root_role

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("security/root_role", problems)

problems contains result.problem(host_profile, host_profile.names.users, text) if {
	some host_profile in clusters.host_profiles
	names := {user.name | some user in host_profile.facts.users; "root" in user.roles}
	count(names) > 0
	text := sprintf("users with the role root: %s (etcd_auth_users)", [concat(", ", sort(names))])
}
