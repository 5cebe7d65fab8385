# METADATA
# title: Statements of files that configure etcd
# description: |
#   Builds the statement of one member, as settings.statement describes it, from what its file says and from what users may assume for
#   everything that no file says: `--data` with {headroom: {assumed: {etcd_version, etcd_workload, etcd_memory_budget}}}.
package headroom.formats.statement_builder

import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.units

_assumed := object.union(_no_assumption, by_user) if {
	by_user := data.headroom.assumed
} else := _no_assumption

_no_assumption := {"etcd_version": null, "etcd_workload": null, "etcd_memory_budget": null}

# found: {given, unknown} and, if the file says so, {version or no_version, limit, workload, kubernetes, memlock, where, silent, facts, mounted,
# groups, twice, alone, complete, elsewhere}. alone: whether the file runs one member, if it lists no others; complete: whether nothing else can set a
# setting; elsewhere: whether the file only reaches a member that others deploy, whose release it need not know.
build(format, found) := _build(format, object.union(found, {
	"given": [_computed(entry) | some position, entry in found.given; last[_key(entry)] == position],
	"twice": object.union(object.get(found, "twice", {}), _repeated(found.given, last)),
})) if {
	last := object.union_n([{_key(entry): position} | some position, entry in found.given])
}

_key(entry) := [entry.form, entry.spelling]

# The product of numbers in a shell, such as $((4*1024*1024*1024)), has its value.
_computed(entry) := object.union(entry, {"value": sprintf("%d", [product(factors)])}) if {
	regex.match(`^\$?\$\(\([1-9][0-9]{0,9}(\*[1-9][0-9]{0,9}){0,4}\)\)$`, entry.value)
	factors := [to_number(factor) | some factor in regex.find_n(`[0-9]+`, entry.value, -1)]
} else := entry

# Canonical name → the places of a flag that is given again with another value. etcd takes the last one.
_repeated(given, last) := object.union_n([{canonical_name(entry): places} |
	some entry in given
	key := _key(entry)
	entry.value != given[last[key]].value
	places := [other.name | some other in given; _key(other) == key]
])

_build(format, found) := {
	"format": format,
	"given": [entry | some entry in found.given; not entry.name in object.keys(doubts)],
	"version": version,
	"limit": _limit(found),
	"workload": _workload_of(found),
	"unknown": object.union_n([found.unknown, doubts, without_version]),
	"kubernetes": _serves_kubernetes(found),
	"members": _members(found),
	"alone": object.get(found, "alone", false),
	"complete": object.get(found, "complete", false),
	"replicas": object.get(found, "replicas", null),
	"memlock": object.get(found, "memlock", null),
	"where": object.get(found, "where", {}),
	"silent": array.concat(array.concat(object.get(found, "silent", []), _without_keyspace(version)), _of_proxy(found)),
	"facts": object.get(found, "facts", {}),
	"mounted": object.get(found, "mounted", []),
	"groups": object.get(found, "groups", []),
	"twice": found.twice,
} if {
	version := _version(found)
	without_version := {"the version": ["version", object.get(found, "no_version", "this file does not state it")] |
		version == null
		not found.elsewhere
	}
	doubts := {entry.name: [canonical_name(entry), reason] | some entry in found.given; reason := _doubt(entry)}
}

# etcd 2 has neither a compaction nor a quota, and its snapshot-count means something else.
_without_keyspace(version) := ["auto_compaction_mode", "auto_compaction_retention", "quota_backend_bytes", "snapshot_count"] if {
	releases.end_of_life(version) < [3, 0]
} else := []

# A proxy of etcd 2 lists the members of the cluster but is not a member.
_of_proxy(found) := ["initial_cluster"] if {
	some entry in found.given
	entry.spelling in {"proxy", "ETCD_PROXY"}
	not entry.value in {"off", ""}
} else := []

# Whether the member serves Kubernetes, whose API server compacts it. Paths of Kubernetes' certificates and names such as k8s-etcd-1 show that.
_serves_kubernetes(found) if {
	found.kubernetes
} else if {
	some entry in found.given
	is_string(entry.value)
	regex.match(`(^|[^a-z])(k8s|kube)`, lower(_without_placeholders(entry.value)))
} else := false

# Neither the name of a variable, such as K8S_NAMESPACE, nor the namespace of a Service, such as kubeai, shows that etcd serves Kubernetes.
_without_placeholders(text) := regex.replace(text, `\$\w+|\$[({]\w+[)}]|\.kube[a-z]+\.svc\b`, "")

_version(found) := found.version if {
	found.version
} else := null if {
	_assumed.etcd_version == null
} else := releases.parse(sprintf("%v", [_assumed.etcd_version]))

_limit(found) := found.limit if {
	found.limit
} else := {"name": "assumed.etcd_memory_budget", "bytes": bytes} if {
	bytes := units.parse_size(_assumed.etcd_memory_budget)
} else := {"name": "a memory limit"}

_workload_of(found) := found.workload if {
	count(found.workload) > 0
} else := _workload

_workload := _assumed.etcd_workload if {
	is_object(_assumed.etcd_workload)
} else := {}

# Size of the cluster according to initial-cluster; null without one. A member may have several URLs, each after its name. A placeholder may
# stand for any name.
_members(found) := number if {
	entries := [trim_space(entry) | some entry in split(regex.replace(_initial_cluster(found), `\{%.*?%\}`, ""), ",")]
	named := {name | some entry in entries; name := regex.find_all_string_submatch_n(`^([\w.-]+)=`, entry, 1)[0][1]}
	others := [entry | some entry in entries; entry != ""; not regex.match(`^[\w.-]+=`, entry)]
	number := count(named) + count(others)
	number > 0
} else := null

_initial_cluster(found) := [spelling.as_text(entry.value) |
	some entry in found.given
	spelling.setting(null, entry.form, entry.spelling) == "initial_cluster"
][0]

# URLs with a scheme and a port. A placeholder for the host or the port does not make them unknown.
_urls := sprintf(`^\s*%s(\s*,\s*%s)*\s*$`, [_url, _url])

_url := `(?i:https?)://[^,%/]+:([0-9]+|\$\w+|\$[({][^,)}]+[)}]|\{\{[^,}]+\}\})/?`

# The canonical name of a setting, or its own spelling if the model does not have it.
canonical_name(entry) := name if {
	name := spelling.setting(null, entry.form, entry.spelling)
} else := entry.spelling

# Whether the value has one NAME=URL for each member. Placeholders for a name, a host or a port do not change their number.
_lists_peers(entry) if {
	regex.match(_peers, entry.value)
	canonical_name(entry) == "initial_cluster"
}

_peers := sprintf(`^\s*%s(\s*,\s*%s)*[\s,]*$`, [_peer, _peer])

# A placeholder directly before letters does not match, because it may stand for a list of other members.
_peer := sprintf(`([\w.-]+(%s[\w.-]*)*|%s([.-]+(%s|[\w.-]+))*)=%s`, [_placeholder, _placeholder, _placeholder, _peer_url])

_placeholder := `(\$\w+|\$[({]\w+[)}]|\{\{[^,{}]+\}\}|<[A-Za-z][\w.-]*>)`

_peer_url := `(?i:https?)://(\$\w+|\$[({]\w+[)}]|\{\{[^,{}]+\}\}|<[A-Za-z][\w.-]*>|[\w.:\[\]-])+/?`

# Why a placeholder has no value yet.
filled_in := "filled in at deployment"

# Placeholders: ${NAME} of Compose, $(NAME) of Kubernetes, {{ name }} of a template, __NAME__ and <name> of a person. `$$` is a plain dollar sign.
_doubt(entry) := filled_in if {
	is_string(entry.value)
	not regex.match(_urls, entry.value)
	not _lists_peers(entry)
	regex.match(`\$[({A-Za-z_0-9@*]|\{\{|\{%|__[A-Z][A-Z0-9_]*__|<[A-Za-z][\w .-]*>`, replace(entry.value, "$$", ""))
}

# A word in capitals, which a script replaces.
_doubt(entry) := filled_in if {
	regex.match(`^[A-Z][A-Z0-9_]*$`, sprintf("%v", [entry.value]))
	canonical_name(entry) == "initial_cluster"
}

# A member's own name may be in capitals, but hardly with an underscore.
_doubt(entry) := filled_in if {
	regex.match(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`, sprintf("%v", [entry.value]))
	canonical_name(entry) == "name"
}
