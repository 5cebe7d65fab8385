# METADATA
# title: Old revisions are compacted
# description: |
#   etcd keeps every revision of every key until it is compacted. Without compaction, the index and the database grow
#   with each write until the quota stops all writes. Only a Kubernetes API server compacts by itself. A file for other
#   tools may not show all settings, so a missing retention there is only a warning. The audit knows more: keys below
#   /registry/, /kubernetes.io/ or /openshift.io/ show that Kubernetes compacts, and if a client has compacted before, this is
#   only a warning. In revision mode etcd takes a duration as its number of nanoseconds, so 5m keeps 300 billion revisions. A job in the same files that
#   compacts with etcdctl replaces the retention. If the job is in a folder beside that of the member, this is a warning.
# custom:
#   id: compaction/off
#   severity: deny
#   fix: Set auto-compaction-retention, for example to 5m (in revision mode, to 1000), or set etcd_workload and let the plan choose it
#   fix_in_files: Set auto-compaction-retention, for example to 5m (in revision mode, to 1000)
#   source: https://etcd.io/docs/v3.6/op-guide/maintenance/#auto-compaction; server/embed/etcd.go (parseCompactionRetention)
package headroom.rules.compaction.off

import data.headroom.clusters
import data.headroom.files
import data.headroom.result
import data.headroom.settings
import data.headroom.units

deny contains finding if some finding in result.findings("compaction/off", problems)

warn contains finding if some finding in result.assumed("compaction/off", problems)

problems contains problem if {
	some profile in clusters.profiles
	not profile.etcd.kubernetes
	found := _assuming_client_stopped(_off(profile))
	not _compacted_by_client(profile.inventory)
	problem := _assuming_other_cluster(found)
}

# Whoever compacted the cluster before may be a client that does so regularly, or a person who did it once.
_assuming_client_stopped(problem) := result.warning_with_assumption(problem, text) if {
	some host_profile in clusters.host_profiles
	host_profile.facts.compacted
	text := "assuming that the client that compacted the cluster before no longer does"
} else := problem

# A job in a folder beside the member's may compact this cluster or another one.
_assuming_other_cluster(problem) := result.warning_with_assumption(problem, text) if {
	count(_compacting) > 0
	not problem.unstated
	text := sprintf("assuming that %s compacts another cluster", [min(_compacting)])
} else := problem

# A job or another service may compact instead, in the member's folder or in one below or above it.
_compacted_by_client(name) if {
	some path in _compacting
	folders := {_folder(path), _folder(name)}
	some folder in folders
	every other in folders { startswith(other, folder) }
}

_folder(path) := files.folder(path) if {
	path in files.paths
} else := "" if {
	path == "."
} else := sprintf("%s/", [path])

# The files with a command that compacts. headroom-lint names those that it translates.
_compacting contains path if some path in object.get(files.reader, "compacts", [])

_compacting contains entry.path if {
	some entry in files.entries
	every word in ["compact", "etcdctl"] { contains(json.marshal(entry.contents), word) }
	walk(entry.contents, [_, value])
	some command in _commands(value)
	regex.match(_compacts, command)
}

# As in plugins/plugin_utils/_reader/read.py.
_compacts := `(?m)^[^#\n]*\betcdctl\b([^#\n]|\\\n){0,300}(\\\n|[^\w#\n-])compact(ion)?([^\w-]|$)`

_commands(value) := {value} if is_string(value)

_commands(value) := {concat(" ", _words(value))} if is_array(value)

_commands(value) := {concat(" ", array.concat(_words(value[program]), _words(value[arguments]))) |
	some program, arguments in {"command": "args", "entrypoint": "command"}
} if {
	is_object(value)
}

_words(value) := [value] if {
	is_string(value)
} else := [word | some word in value; is_string(word)]

_off(profile) := result.problem(profile, name, sprintf("%s is %v, so etcd keeps every revision ever written", [name, value])) if {
	value := profile.etcd.settings.auto_compaction_retention
	regex.match(`^[-+]?(0*|(0*(\.0*)?(ns|us|µs|μs|ms|s|m|h))+)$`, sprintf("%v", [value]))
	name := profile.etcd.names.auto_compaction_retention
} else := result.problem(profile, name, sprintf("%s is %v, which etcd reads as %s revisions in revision mode, so it compacts nothing", [
	name,
	profile.etcd.settings.auto_compaction_retention,
	units.format_count(revisions),
])) if {
	revisions := settings.revisions_of_duration(profile.etcd)
	name := profile.etcd.names.auto_compaction_retention
} else := _unset(profile) if {
	settings.is_unplanned(profile.etcd)
	settings.is_unset(profile.etcd, "auto_compaction_retention")
}

_unset(profile) := result.warning_with_assumption(problem, "assuming that nothing outside this file sets it and no client compacts") if {
	not settings.proves_unset(profile.etcd)
	problem := _unset_problem(profile)
} else := _unset_problem(profile)

_unset_problem(profile) := result.problem(
	profile,
	"etcd_auto_compaction_retention",
	"auto-compaction-retention is not set, and by default etcd keeps every revision ever written",
)
