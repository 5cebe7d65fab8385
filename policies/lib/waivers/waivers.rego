# METADATA
# title: Waivers
# description: |
#   Findings that somebody has decided to live with for a while. A waiver is {rule, host or group or cluster, reason, expires}, in a list
#   `waivers` of a file waivers.yml: among the linted files (then it counts for the inventory that it lies in, or for all below its
#   folder), or given with --data (then for all). docs/policies/waivers.md is the user's page.
package headroom.waivers

import data.headroom.clusters
import data.headroom.flags
import data.headroom.inventory
import data.headroom.inventory.paths

# Files of that name are no inventory files; .waivers.yml is for those who keep it within the inventory, where Ansible reads all others.
_files := {entry.path: entry.contents |
	count(paths.waiver_files) > 0
	some entry in paths.entries
	entry.path in paths.waiver_files
	entry.contents != null
}

_sources := object.union_n([
	{path: object.get(_mapping(contents), "waivers", null) | some path, contents in _files},
	{path: object.get(_mapping(contents), "waivers", null) | some path, contents in _beside},
	{"--data": stated | stated := data.waivers},
])

# The files beside the inventories that Ansible has resolved; playbooks/lint.yml hands them over with these.
_beside := {path: contents |
	some document in paths.listed
	some path, contents in document._meta.waivers
}

_mapping(contents) := contents if {
	is_object(contents)
} else := {}

# Every entry with where it stands.
_entries := [{"file": path, "number": position + 1, "waiver": waiver} |
	some path, list in _sources
	is_array(list)
	some position, waiver in list
]

_scopes := {"host", "group", "cluster"}

_keys := _scopes | {"rule", "reason", "expires"}

# What is wrong with the files and with each entry: {file, text}.
malformed := {{"file": path, "text": "it wants a list named \"waivers\""} |
	some path, list in _sources
	not is_array(list)
} | {{"file": entry.file, "text": sprintf("waiver %d %s", [entry.number, text])} |
	some entry in _entries
	some text in _problems(entry.waiver)
}

_problems(waiver) := {sprintf("is no mapping of %s", [concat(", ", sort(_keys))])} if {
	not is_object(waiver)
} else := union({unknown, missing, scope, of_rule, date}) if {
	unknown := {sprintf("has an unknown key %q; known are %s", [key, concat(", ", sort(_keys))]) | some key in (object.keys(waiver) - _keys)}
	missing := {sprintf("has no %s", [key]) | some key in (_keys - _scopes); not _filled(object.get(waiver, key, null))}
	scope := {"wants one of host, group and cluster, with a name" | not _has_one_scope(waiver)}
	of_rule := {text | text := _problem_of_rule(waiver.rule)}
	date := {sprintf("expires on %q, which is no date such as 2027-03-31", [waiver.expires]) | _filled(waiver.expires); not _is_date(waiver.expires)}
}

_filled(value) if {
	is_string(value)
	trim_space(value) != ""
}

_has_one_scope(waiver) if {
	count(_scopes & object.keys(waiver)) == 1
	some scope in _scopes
	_filled(object.get(waiver, scope, null))
}

_problem_of_rule(rule) := "is for a rule about waivers, which cannot be waived" if {
	startswith(rule, "waiver/")
} else := sprintf("names a rule that does not exist, %q; the nearest is %s", [rule, near]) if {
	_is_unknown(rule)
	near := flags.nearest(rule, object.keys(data.headroom.catalog))
} else := sprintf("names a rule that does not exist, %q", [rule]) if {
	_is_unknown(rule)
}

_is_unknown(rule) if {
	_filled(rule)
	not data.headroom.catalog[rule]
}

# time.parse_ns alone takes 2027-3-31 too, which would not compare.
_is_date(text) if {
	regex.match(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`, text)
	time.parse_ns("2006-01-02", text)
}

# Today in UTC, as a waiver writes its date: such texts compare as the dates do.
_today := sprintf("%04d-%02d-%02d", time.date(time.now_ns()))

_well_formed := [entry | some entry in _entries; count(_problems(entry.waiver)) == 0]

# A waiver counts through the day that it names.
expired := [entry | some entry in _well_formed; entry.waiver.expires < _today]

valid := [object.union(entry, {"hosts": hosts}) |
	some entry in _well_formed
	entry.waiver.expires >= _today
	hosts := {name: _hosts(entry.waiver, name, groups) | some name, groups in inventory.members; _reaches(entry.file, name)}
]

# A file counts for the inventory that it lies in, and for those below its own folder.
_reaches("--data", _)

_reaches(file, _) if _beside[file]

_reaches(file, name) if {
	some [inner, outer] in [[folder(file), name], [name, folder(file)]]
	_within(inner, outer)
}

# As inventories are called by theirs.
folder(file) := name if {
	name := regex.replace(file, `/[^/]*$`, "")
	name != file
} else := "."

_within(_, ".")

_within(inner, outer) if startswith(sprintf("%s/", [inner]), sprintf("%s/", [outer]))

_hosts(waiver, _, _) := {waiver.host}

_hosts(waiver, _, groups) := object.get(groups, waiver.group, set())

_hosts(waiver, name, _) := object.get(clusters.members, [[name, waiver.cluster]], set())

# rule → the valid waivers for it.
by_rule := {rule: entries |
	some rule in {entry.waiver.rule | some entry in valid}
	entries := [entry | some entry in valid; entry.waiver.rule == rule]
}

# Which waivers cover a problem of these hosts, each with those that it covers: {waiver, hosts}. The first of several counts. What is found
# of files and not of hosts is waived for the group `all`.
covering(rule, name, hosts) := {{"waiver": _about(entry), "hosts": covered} |
	by_rule[rule]
	first := {host: [entry | some entry in by_rule[rule]; host in entry.hosts[name]][0] | some host in hosts}
	some entry in {entry | some entry in first}
	covered := {host | some host, other in first; other == entry}
} | {{"waiver": _about(first), "hosts": set()} |
	count(hosts) == 0
	first := [entry | some entry in by_rule[rule]; entry.waiver.group == "all"; entry.hosts[name]][0]
}

_about(entry) := {
	"file": entry.file,
	"number": entry.number,
	"reason": entry.waiver.reason,
	"expires": entry.waiver.expires,
}
