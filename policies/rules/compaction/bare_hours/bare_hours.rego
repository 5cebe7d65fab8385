# METADATA
# title: A retention has a unit
# description: |
#   In periodic mode etcd reads a bare number as hours, not as minutes or revisions: 5 keeps five hours of history, six
#   at the peak, in the database and in the index. A Kubernetes API server compacts every five minutes by itself, so the
#   retention counts only where that is turned off.
# custom:
#   id: compaction/bare_hours
#   severity: warn
#   fix: Write the unit (5m, 5h), or set auto-compaction-mode to revision
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#auto-compaction
package headroom.rules.compaction.bare_hours

import data.headroom.clusters
import data.headroom.releases.accepted_values
import data.headroom.result

warn contains finding if some finding in result.findings("compaction/bare_hours", problems)

problems contains result.with_value(result.problem(profile, name, text), sprintf("%sh", [value])) if {
	some profile in clusters.profiles
	not object.get(profile.etcd, "format", "") in _of_kubernetes
	name := profile.etcd.names.auto_compaction_retention
	not "auto_compaction_mode" in profile.etcd.unknown
	object.get(profile.etcd.settings, "auto_compaction_mode", "periodic") == "periodic"
	value := sprintf("%v", [profile.etcd.settings.auto_compaction_retention])
	regex.match(`^[1-9][0-9]*$`, value)
	text := sprintf("%s is %s, which etcd %s %s in periodic mode%s", [name, value, _reads(profile.etcd, name), _hours(value), _effect(profile.etcd)])
}

# flags/wrong_type reports a number in a config file, where etcd expects a text.
_reads(etcd, name) := "would read, in quotes, as" if {
	some entry in etcd.given
	entry.name == name
	accepted_values.refusal(etcd, entry)
} else := "reads as"

# Roles that deploy the etcd of Kubernetes, and choose hours without a unit themselves.
_of_kubernetes := {"githubixx.etcd", "kubespray"}

_effect(etcd) := "; an API server of Kubernetes compacts every 5 minutes, unless its --etcd-compaction-interval is 0" if {
	etcd.kubernetes
} else := ""

_hours("1") := "1 hour"

_hours(number) := sprintf("%s hours", [number]) if number != "1"
