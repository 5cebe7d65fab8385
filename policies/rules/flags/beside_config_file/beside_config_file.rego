# METADATA
# title: What is written is read
# description: |
#   With a config file etcd passes over its flags and its whole environment, and only says so in one line of its log.
#   Settings that stand there are not in effect.
# custom:
#   id: flags/beside_config_file
#   severity: deny
#   fix: Move all settings into the config file, or do without it
#   source: https://etcd.io/docs/v3.6/op-guide/configuration/; server/etcdmain/config.go
package headroom.rules.flags.beside_config_file

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("flags/beside_config_file", problems)

problems contains result.problem(profile, file, text) if {
	some profile in clusters.profiles
	file := profile.etcd.config_file
	ignored := sort([entry.name |
		some entry in profile.etcd.given
		entry.form != "key"
		not lower(replace(trim_prefix(entry.spelling, "ETCD_"), "_", "-")) in {"config-file", "gogc", "gomemlimit"}
	])
	count(ignored) > 0
	text := sprintf("etcd is given a config file (%s), so it passes over %s", [file, concat(", ", ignored)])
}
