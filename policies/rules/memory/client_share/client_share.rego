# METADATA
# title: Clients leave room for the rest
# description: |
#   Each connection, each watch stream and each watcher costs memory on the member that it is connected to, and a client
#   that reconnects in a loop multiplies them. Beyond a quarter of the limit they, and not the data, decide whether the
#   member lives.
# custom:
#   id: memory/client_share
#   severity: warn
#   fix: Share connections and watches between clients (etcd grpc-proxy does), or give more memory
#   source: the measurements of watches and connections in model/memory.yml; https://etcd.io/docs/v3.6/op-guide/grpc_proxy/
package headroom.rules.memory.client_share

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.estimates
import data.headroom.formulas
import data.headroom.memory.parse
import data.headroom.model
import data.headroom.releases
import data.headroom.result
import data.headroom.units

warn contains finding if some finding in result.findings("memory/client_share", problems)

problems contains result.problem(profile, "etcd_workload", text) if {
	some profile in clusters.profiles
	limit := profile.etcd.limit.bytes
	_perhaps(profile.etcd.workload, limit)
	settings := estimates.model_settings(profile.etcd.settings)
	count(parse.problems(profile.etcd.version, profile.etcd.workload, settings, profile.members)) == 0
	constants := model.constants[releases.series(profile.etcd.version)]
	workload := parse.workload(profile.etcd.workload)
	bytes := formulas.watches(constants, workload) + formulas.connections(constants, workload)
	bytes * 1000 > limit * threshold.client_share_permille
	text := sprintf("%s connections, %s watch streams and %s watchers (etcd_workload) take up to %s of %s (%s), more than %d %%", [
		units.format_count(workload.clients),
		units.format_count(workload.watch_streams),
		units.format_count(workload.watchers),
		units.format_size(bytes),
		units.format_size(limit),
		profile.etcd.limit.name,
		floor(threshold.client_share_permille / 10),
	])
}

# Reading a workload is dear, and hardly anybody needs it here: only where it could matter if each of them took more than any does.
_perhaps(workload, limit) if {
	number := sum([units.parse_count(workload[name]) | some name in ["clients", "watch_streams", "watchers"]])
	(number * each) * 1000 > limit * threshold.client_share_permille
}

each := 262144
