# METADATA
# title: What the readers of files have in common
# description: Statements from what a container is given, its release from its image, and what users may assume where a file is silent.
package headroom.files.reading

import data.headroom.files.words
import data.headroom.units
import data.headroom.vocabulary.foreign
import data.headroom.vocabulary.spelling
import data.headroom.vocabulary.stated

# What holds for all files that do not say otherwise, from --data: {headroom: {assumed: {etcd_version, etcd_workload, etcd_memory_budget}}}.
_assumed := object.union(_nothing, stated_by_user) if {
	stated_by_user := data.headroom.assumed
} else := _nothing

_nothing := {"etcd_version": null, "etcd_workload": null, "etcd_memory_budget": null}

# A statement. found: {given, unknown, and where they are known version, limit, members, kubernetes, memlock}; unknown maps what its author wrote
# to [canonical name, why].
statement(vocabulary, found) := {
	"vocabulary": vocabulary,
	"given": [entry | some entry in found.given; not entry.name in object.keys(doubts)],
	"version": version,
	"limit": _limit(found),
	"workload": _workload,
	"unknown": object.union_n([found.unknown, doubts, without_version]),
	"kubernetes": object.get(found, "kubernetes", false),
	"members": _members(found),
	"memlock": object.get(found, "memlock", null),
} if {
	version := _version(found)
	without_version := {"the version": ["version", object.get(found, "versionless", "this file does not state it")] | version == null}
	doubts := {entry.name: [_canonical(entry), reason] | some entry in found.given; reason := _doubt(entry)}
}

_version(found) := found.version if {
	found.version
} else := null if {
	_assumed.etcd_version == null
} else := stated.release(sprintf("%v", [_assumed.etcd_version]))

_limit(found) := found.limit if {
	found.limit
} else := {"name": "assumed.etcd_memory_budget", "bytes": bytes} if {
	bytes := units.parse_size(_assumed.etcd_memory_budget)
} else := {"name": "a memory limit"}

_workload := _assumed.etcd_workload if {
	is_object(_assumed.etcd_workload)
} else := {}

# How many members the cluster has, by its own initial-cluster; null where that does not say.
_members(found) := count(split(_initial_cluster(found), ",")) if {
	_initial_cluster(found) != ""
} else := null

_initial_cluster(found) := [spelling.text_of(entry.value) |
	some entry in found.given
	spelling.setting(null, entry.form, entry.spelling) == "initial_cluster"
][0]

_canonical(entry) := name if {
	name := spelling.setting(null, entry.form, entry.spelling)
} else := entry.spelling

# A value that is filled in later: ${NAME} by Compose, $(NAME) by Kubernetes, {{ name }} by a template.
_doubt(entry) := "it is filled in when it is deployed" if {
	is_string(entry.value)
	regex.match(`\$[({A-Za-z_]|\{\{|\{%`, replace(entry.value, "$$", ""))
}

# Environment from a map of name and value. A null is a variable that is taken from where the file is used.
environment(variables) := [{"name": spelt, "form": "env", "spelling": spelt, "value": value} |
	some spelt, value in variables
	foreign.of_etcd(spelt)
	value != null
]

# The same for an image whose scripts have variables ETCD_… of their own, as Bitnami's do; those are left out.
environment_of(reference, variables) := [entry |
	some entry in environment(variables)
	not _of_image(reference, entry.spelling)
]

_of_image(reference, spelt) if {
	is_string(reference)
	contains(reference, "bitnami")
	not spelling.known(null, "env", spelt)
}

# The variables without a value.
passed_on(variables) := {spelt: [_canonical({"form": "env", "spelling": spelt}), "it is passed on from where this file is used"] |
	some spelt, value in variables
	foreign.of_etcd(spelt)
	value == null
}

# The repository's last name and the tag of an image: ["etcd", "v3.5.21"].
image(reference) := [parts[count(parts) - 1], tag] if {
	is_string(reference)
	[_, name, tag] := regex.find_all_string_submatch_n(`^([^@]*?)(?::([^:/@]*))?(?:@.*)?$`, reference, 1)[0]
	parts := split(name, "/")
}

# Whether a container runs etcd, by its command, else by its image.
runs_etcd(reference, command) if {
	count(command) == 0
	image(reference)[0] == "etcd"
}

runs_etcd(reference, command) if {
	startswith(command[0], "-")
	image(reference)[0] == "etcd"
}

runs_etcd(_, command) if words.executable(command) >= 0

# The release that an image names, as {version}, or why it names none, as {versionless}.
release(reference) := {"version": version} if {
	[_, tag] := image(reference)
	version := stated.release(tag)
} else := {"versionless": sprintf("the image %q names no release", [reference])} if {
	is_string(reference)
} else := {}
