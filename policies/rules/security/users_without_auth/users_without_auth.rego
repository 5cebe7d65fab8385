# METADATA
# title: Listed users are enforced
# description: |
#   While authentication is off, etcd ignores users and roles: every client with a certificate of the cluster's CA may
#   read and change every key, whatever its common name.
# custom:
#   id: security/users_without_auth
#   severity: warn
#   fix: Set etcd_auth_enabled to true and run the playbook auth, or remove etcd_auth_users
#   source: https://etcd.io/docs/v3.6/op-guide/authentication/rbac/
package headroom.rules.security.users_without_auth

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("security/users_without_auth", problems)

problems contains result.problem(host_profile, "etcd_auth_enabled", text) if {
	some host_profile in clusters.host_profiles
	settings.is_false(host_profile.facts.auth)
	count(host_profile.facts.users) > 0
	text := sprintf("etcd_auth_enabled is %v, so etcd ignores etcd_auth_users", [host_profile.facts.auth])
}
