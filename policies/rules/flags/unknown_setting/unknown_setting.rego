# METADATA
# title: Every setting is one that the version knows
# description: |
#   etcd passes over an unknown key of its config file in silence, so a setting that was renamed or removed is simply
#   gone. All experimental-* settings are gone in 3.7.
# custom:
#   id: flags/unknown_setting
#   severity: deny
#   fix: Spell it as this version does, or remove it
#   source: embed.Config of each release; https://etcd.io/docs/v3.6/upgrades/
package headroom.rules.flags.unknown_setting

import data.headroom.clusters
import data.headroom.flags
import data.headroom.result

deny contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

_problems := {problem |
	some profile in clusters.profiles
	some key, _ in flags.settings(profile.etcd)
	not flags.known(profile.etcd.version)[key]
	problem := {
		"inventory": profile.inventory,
		"hosts": profile.hosts,
		"about": "etcd_extra_config",
		"text": sprintf("etcd %s knows no setting %q (etcd_extra_config)%s", [
			profile.etcd.version,
			key,
			flags.remedy(profile.etcd.version, key),
		]),
	}
}
