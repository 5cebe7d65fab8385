# METADATA
# title: Old revisions are compacted
# description: |
#   etcd keeps every revision of every key until it is compacted. Without compaction, the index and the database grow
#   with each write until the quota stops all writes. Only a Kubernetes API server compacts by itself.
# custom:
#   id: compaction/off
#   severity: deny
#   fix: Set auto-compaction-retention, for example to 5m, or set etcd_workload and let the plan choose it
#   fix_in_files: Set auto-compaction-retention, for example to 5m
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#auto-compaction
package headroom.rules.compaction.off

import data.headroom.clusters
import data.headroom.files
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("compaction/off", problems)

problems contains result.problem(profile, about, text) if {
	some profile in clusters.profiles
	not profile.etcd.kubernetes
	[about, text] := _off(profile.etcd)
	not _compacted_by_client
}

# A job or another service may compact instead.
_compacted_by_client if {
	some entry in files.entries
	regex.match(`etcdctl.{0,300}compact`, json.marshal(entry.contents))
}

_off(etcd) := [name, sprintf("%s is %v, so etcd keeps every revision ever written", [name, value])] if {
	value := etcd.settings.auto_compaction_retention
	regex.match(`^0*(\.0*)?(ns|us|µs|ms|s|m|h)?$`, sprintf("%v", [value]))
	name := etcd.names.auto_compaction_retention
} else := ["etcd_auto_compaction_retention", "auto-compaction-retention is not set, and by default etcd keeps every revision ever written"] if {
	settings.is_unplanned(etcd)
	settings.is_unset(etcd, "auto_compaction_retention")
}
