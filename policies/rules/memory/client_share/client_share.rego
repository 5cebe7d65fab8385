# METADATA
# title: Clients leave memory for the rest
# description: |
#   Each connection, watch stream and watcher costs memory on the member that it is connected to, and clients that reconnect in a loop
#   multiply them. Beyond a quarter of the limit, clients rather than data determine whether the member survives.
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
	count(parse.problems(profile.etcd.release, profile.etcd.workload, settings, profile.members)) == 0
	constants := model.constants[releases.series(profile.etcd.release)]
	workload := parse.workload(profile.etcd.workload)
	bytes := formulas.watches(constants, workload) + formulas.connections(constants, workload)
	bytes * 1000 > limit * threshold.client_share_permille
	text := sprintf("%s connections, %s watch streams and %s watchers (etcd_workload) take up to %s of %s (%s), over the limit of %d %%", [
		units.format_count(workload.clients),
		units.format_count(workload.watch_streams),
		units.format_count(workload.watchers),
		units.format_size(bytes),
		units.format_size(limit),
		profile.etcd.limit.name,
		floor(threshold.client_share_permille / 10),
	])
}

# Parsing a workload is expensive and rarely needed here, so an upper bound is checked first: none of the clients takes more than `each`.
_perhaps(workload, limit) if {
	number := sum([units.parse_count(workload[name]) | some name in ["clients", "watch_streams", "watchers"]])
	(number * each) * 1000 > limit * threshold.client_share_permille
}

# Bytes; a test holds it above the model's figures.
each := 262144
