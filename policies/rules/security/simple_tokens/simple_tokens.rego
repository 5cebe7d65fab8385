# METADATA
# title: Users with passwords get signed tokens
# description: |
#   A user who logs in with a password gets a token. A simple token, etcd's default, is known only to the member that issued it until the
#   others have applied it; a restarted member knows none of the old ones, and clients see "invalid auth token". etcd's documentation calls
#   simple tokens not designed for production. Signed tokens (jwt) and client certificates have neither problem.
# custom:
#   id: security/simple_tokens
#   severity: warn
#   fix: "Set etcd_extra_config['auth-token'] to jwt with a key pair, or let the users log in by certificate (no_password)"
#   source: https://etcd.io/docs/v3.6/learning/design-auth-v3/; etcd-io/etcd#18437
package headroom.rules.security.simple_tokens

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("security/simple_tokens", problems)

problems contains result.problem(host_profile, host_profile.names.users, text) if {
	some host_profile in clusters.host_profiles
	not settings.is_false(host_profile.facts.auth)
	not "extra_config" in host_profile.unknown
	names := {user.name | some user in host_profile.facts.users; user.password}
	count(names) > 0
	not startswith(_token(host_profile.facts.extra_config), "jwt")
	text := sprintf(
		"%s: a password gives a simple token (etcd_auth_users; auth-token is %s)",
		[concat(", ", sort(names)), _token(host_profile.facts.extra_config)],
	)
}

_token(config) := sprintf("%v", [config["auth-token"]]) if {
	config["auth-token"]
} else := "simple"
