# METADATA
# title: Waivers
# description: |
#   Decisions to accept a finding until a date, {rule, host or group or cluster, reason, expires}. They come from the list `waivers` in files
#   called waivers.yml, which apply to inventories around or below them, or from --data, which applies to all. See docs/policies/waivers.md.
package headroom.waivers

import data.headroom.clusters
import data.headroom.effective_thresholds.threshold
import data.headroom.files
import data.headroom.inventory
import data.headroom.text

_files := {entry.path: entry.contents |
	count(files.waiver_files) > 0
	some entry in files.entries
	entry.path in files.waiver_files
	entry.contents != null
}

_sources := object.union_n([
	{path: object.get(_mapping(contents), "waivers", null) | some path, contents in _files},
	{path: object.get(_mapping(contents), "waivers", null) | some path, contents in _resolved_files},
	{"--data": given | given := data.waivers},
])

# The playbook lint embeds these files in the inventory that Ansible has resolved.
_resolved_files := {path: contents |
	some document in files.listed
	some path, contents in document._meta.waivers
}

_mapping(contents) := contents if {
	is_object(contents)
} else := {}

# `number` is the entry's position in its file, starting at 1.
_entries := [{"file": path, "number": position + 1, "waiver": waiver} |
	some path, list in _sources
	is_array(list)
	some position, waiver in list
]

_scopes := {"host", "group", "cluster"}

_keys := _scopes | {"rule", "reason", "expires"}

# {file, text} of each problem.
malformed := {{"file": path, "text": "has no list named \"waivers\""} |
	some path, list in _sources
	not is_array(list)
} | {{"file": entry.file, "text": sprintf("waiver %d %s", [entry.number, text])} |
	some entry in _entries
	some text in _problems(entry.waiver)
}

_problems(waiver) := {sprintf("is not a mapping with %s", [concat(", ", sort(_keys))])} if {
	not is_object(waiver)
} else := union({unknown, missing, scope, of_rule, date}) if {
	unknown := {sprintf("has an unknown key %q; known are %s", [key, concat(", ", sort(_keys))]) | some key in (object.keys(waiver) - _keys)}
	missing := {sprintf("has no %s", [key]) | some key in (_keys - _scopes); not _filled(object.get(waiver, key, null))}
	scope := {"must name exactly one of host, group and cluster" | not _has_one_scope(waiver)}
	of_rule := {text | text := _problem_of_rule(waiver.rule)}
	date := {sprintf("expires on %q, which is not a date such as 2027-03-31", [waiver.expires]) | _filled(waiver.expires); not _is_date(waiver.expires)}
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
	near := text.nearest(rule, object.keys(data.headroom.catalog))
} else := sprintf("names a rule that does not exist, %q", [rule]) if {
	_is_unknown(rule)
}

_is_unknown(rule) if {
	_filled(rule)
	not data.headroom.catalog[rule]
}

# time.parse_ns() also accepts 2027-3-31, which does not compare as text.
_is_date(text) if {
	regex.match(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`, text)
	time.parse_ns("2006-01-02", text)
}

# Today in UTC. Dates in this notation compare as text.
_today := sprintf("%04d-%02d-%02d", time.date(time.now_ns()))

# The latest date that a waiver may have, so that accepted findings are reviewed.
_latest := sprintf("%04d-%02d-%02d", time.date(time.add_date(time.now_ns(), 0, 0, threshold.waiver_days_max)))

_well_formed := [entry | some entry in _entries; count(_problems(entry.waiver)) == 0]

# Waivers whose date is more than waiver_days_max days away. They do not count.
too_late := [entry | some entry in _well_formed; entry.waiver.expires > _latest]

_in_time := [entry | some entry in _well_formed; entry.waiver.expires <= _latest]

# A waiver is valid through its last day.
expired := [entry | some entry in _in_time; entry.waiver.expires < _today]

valid := [object.union(entry, {"hosts": hosts}) |
	some entry in _in_time
	entry.waiver.expires >= _today
	hosts := {name: _hosts(entry.waiver, name, groups) | some name, groups in inventory.members; _applies(entry.file, name)}
]

# A file applies to the inventory around it and to those below its folder.
_applies("--data", _)

_applies(file, _) if _resolved_files[file]

_applies(file, name) if {
	some [inner, outer] in [[folder(file), name], [name, folder(file)]]
	_within(inner, outer)
}

# The waiver file's folder, written as inventories are named.
folder(file) := name if {
	name := regex.replace(file, `/[^/]*$`, "")
	name != file
} else := "."

_within(_, ".")

_within(inner, outer) if {
	startswith(_located(inner), _located(outer))
	not startswith(trim_prefix(_located(inner), _located(outer)), "../")
}

# Folders such as ../.. are above every path that leads less far up.
_within(inner, outer) if {
	regex.match(`^(\.\./)+$`, _located(outer))
	not startswith(_located(inner), "/")
	_steps_up(inner) < _steps_up(outer)
}

_steps_up(path) := count([step | some step in split(_located(path), "/"); step == ".."])

# With a slash at the end. headroom-lint passes the working directory if a path needs it.
_located(path) := _clean(sprintf("%s/%s/", [files.reader.working_directory, path])) if {
	files.reader.working_directory
	not startswith(path, "/")
} else := _clean(sprintf("%s/", [path]))

# Without ./ and NAME/../ as far as people nest them. Rego has no recursion.
_clean(path) := _without_detour(_without_detour(_without_detour(_without_detour(regex.replace(regex.replace(path, `/(\.?/)+`, "/"), `^\./`, "")))))

_without_detour(path) := regex.replace(path, `(^|/)([^/.][^/]*|\.[^/.][^/]*|\.\.[^/]+)/\.\./`, "$1")

# Inventories for which nobody can tell whether the file lies above them: only one of the two paths is absolute, or that of the file leads up and down again.
incomparable(file) := {name |
	some name, _ in inventory.members
	not _is_comparable(_located(folder(file)), _located(name))
}

_is_comparable(outer, inner) if {
	startswith(outer, "/") == startswith(inner, "/")
	not regex.match(`^(\.\./)+[^.]`, outer)
}

_is_comparable("", _)

_is_comparable(outer, inner) if {
	startswith(outer, "../")
	startswith(inner, "../")
}

_hosts(waiver, _, _) := {waiver.host}

_hosts(waiver, _, groups) := object.get(groups, waiver.group, set())

_hosts(waiver, name, _) := object.get(clusters.members, [[name, waiver.cluster]], set())

# Rule → its valid waivers.
by_rule := {rule: entries |
	some rule in {entry.waiver.rule | some entry in valid}
	entries := [entry | some entry in valid; entry.waiver.rule == rule]
}

# The waivers of a problem with the hosts that each covers: {waiver, hosts}. If several cover a host, the first one counts. Problems without
# hosts need a waiver for the group `all`.
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
