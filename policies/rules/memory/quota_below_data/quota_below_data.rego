# METADATA
# title: The data fits the quota
# description: |
#   A database that reaches its quota accepts no writes, on any member, until it is compacted and defragmented and the alarm is
#   disarmed. Live keys and the history that compaction keeps must fit. Do not raise the quota above 8 GiB.
# custom:
#   id: memory/quota_below_data
#   severity: deny
#   fix: Compact sooner, use fewer or smaller values, split the data over several clusters, or raise quota-backend-bytes up to 8 GiB
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#space-quota, and model/memory.yml for the size of a revision
package headroom.rules.memory.quota_below_data

import data.headroom.estimates
import data.headroom.memory
import data.headroom.memory.parse
import data.headroom.model
import data.headroom.result
import data.headroom.units

deny contains finding if some finding in result.findings("memory/quota_below_data", problems)

problems contains result.problem(profile, object.get(profile.etcd.names, "quota_backend_bytes", "etcd_workload"), text) if {
	some profile in estimates.profiles
	profile.etcd.planned
	settings := profile.estimate.settings

	# Without compaction no quota is enough: compaction/off reports that.
	parse.retention_amount(settings.auto_compaction_mode, settings.auto_compaction_retention) > 0
	quota := _bytes(profile.estimate)
	unlimited := object.union(profile.settings, {"quota_backend_bytes": -1})
	needed := memory.database(profile.etcd.release, profile.estimate.workload, unlimited).in_use
	needed > quota
	[required, available] := units.format_sizes_distinctly(needed, quota)
	text := sprintf("live keys and a history of %v take %s in the database, over the quota of %s (%s)", [
		settings.auto_compaction_retention,
		required,
		available,
		_origin(profile.etcd),
	])
}

_bytes(estimate) := bytes if {
	bytes := estimate.settings.quota_backend_bytes
	bytes > 0
}

_bytes(estimate) := model.constants[estimate.series].quota_default if estimate.settings.quota_backend_bytes == 0

_origin(etcd) := name if {
	name := etcd.names.quota_backend_bytes
} else := "the largest that a plan can choose"
