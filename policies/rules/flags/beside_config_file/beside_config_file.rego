# METADATA
# title: etcd reads every setting
# description: |
#   With a config file, etcd ignores its flags and its environment, and only logs one line about it. The settings there have
#   no effect, apart from ETCD_UNSUPPORTED_ARCH and ETCD_VERIFY, which etcd reads itself, and the variables of Go's runtime.
# custom:
#   id: flags/beside_config_file
#   severity: deny
#   with: [inventory/unknown_value]
#   fix: Move all settings into the config file, or remove the config file
#   source: https://etcd.io/docs/v3.6/op-guide/configuration/; server/etcdmain/config.go; checkSupportArch in server/etcdmain/etcd.go
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
		not lower(replace(trim_prefix(entry.spelling, "ETCD_"), "_", "-")) in _read
	])
	count(ignored) > 0
	text := sprintf("etcd has a config file (%s), so it ignores %s", [file, concat(", ", ignored)])
}

# By the command line's parser, by Go's runtime, or from the environment directly.
_read := {"config-file", "gogc", "gomemlimit", "unsupported-arch", "verify"}
