# METADATA
# title: Old revisions are dropped
# description: |
#   etcd keeps every revision of every key until it is told to compact. Without compaction the index and the database grow
#   with each write until the quota ends all writes. Only a Kubernetes API server compacts by itself.
# custom:
#   id: compaction/off
#   severity: deny
#   fix: State etcd_workload, from which Headroom computes it, or set etcd_auto_compaction_retention, for example to 5m
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#auto-compaction
package headroom.rules.compaction.off

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

warn contains finding if some finding in result.waived(rego.metadata.chain(), _problems)

_problems := {problem |
	some profile in clusters.profiles
	[about, text] := _off(profile)
	problem := {"inventory": profile.inventory, "hosts": profile.hosts, "about": about, "text": text}
}

_off(profile) := [name, sprintf("%s is %v, so every revision ever written is kept", [name, value])] if {
	value := profile.etcd.settings.auto_compaction_retention
	regex.match(`^0*(\.0*)?(ns|us|µs|ms|s|m|h)?$`, sprintf("%v", [value]))
	name := profile.etcd.names.auto_compaction_retention
} else := ["etcd_auto_compaction_retention", "auto-compaction-retention is not set, and etcd's default keeps every revision ever written"] if {
	not profile.etcd.planned
	not profile.etcd.names.auto_compaction_retention
	not profile.unknown.etcd_auto_compaction_retention
	not profile.unknown.etcd_workload
}
