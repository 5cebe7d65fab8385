# METADATA
# title: The data directory is set
# description: |
#   Without data-dir etcd creates a folder in the directory where it starts: / for a unit of systemd, a layer of the
#   container that is deleted with it, or wherever somebody ran a script. Started from elsewhere, it begins with an empty database.
# custom:
#   id: disk/data_dir_unset
#   severity: warn
#   fix: Set data-dir to a directory on a persistent volume
#   source: https://etcd.io/docs/v3.6/op-guide/configuration/#member
package headroom.rules.disk.data_dir_unset

import data.headroom.clusters
import data.headroom.result
import data.headroom.settings

warn contains finding if some finding in result.findings("disk/data_dir_unset", problems)

problems contains result.problem(profile, "data-dir", text) if {
	some profile in clusters.profiles
	folder := _started_in[profile.etcd.format]
	settings.is_unset(profile.etcd, "data_dir")
	text := sprintf("data-dir is not set, so etcd keeps its data in NAME.etcd in %s", [folder])
}

# Only these formats show the whole command of a member, or its whole config file.
_started_in := {
	"compose": "the container, and loses it with the container",
	"manifest": "the container, and loses it with the container",
	"config file": "the directory where it starts",
	"script": "the directory where it starts, or in its container if it runs in one",
	"systemd unit": "/, where systemd starts it, or in its container if it runs in one",
}
