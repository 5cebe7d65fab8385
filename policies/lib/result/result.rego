# METADATA
# title: Findings
# description: |
#   Builds conftest's findings from the problems that a rule found and from the rule's METADATA. The METADATA comes from data/rules.json:
#   OPA copies the result of rego.metadata.chain() into each rule that calls it.
package headroom.result

import data.headroom.estimates
import data.headroom.files
import data.headroom.files.lines
import data.headroom.formats
import data.headroom.inventory
import data.headroom.inventory.folder
import data.headroom.model
import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.settings.detect
import data.headroom.text
import data.headroom.waivers

# subject: a profile or a host profile; about: the variable or file concerned. Hosts with the same message share a finding.
problem(subject, about, message) := {"inventory": subject.inventory, "hosts": subject.hosts, "about": about, "text": message}

# A problem that only the cluster as a whole has.
cluster_problem(inventory_name, hosts, about, message) := {
	"inventory": inventory_name,
	"hosts": hosts,
	"about": about,
	"text": message,
	"whole": true,
}

# A problem with the value that fixes it. For a role's default there is none, because no variable contains it.
with_value(solvable, value) := object.union(solvable, {"set": {_settable(solvable.about): value}}) if {
	not contains(solvable.about, " ")
} else := solvable

# Headroom's role refuses some keys of etcd_extra_config, and has variables for them.
_settable(about) := sprintf("etcd_%s", [name]) if {
	[_, key] := regex.find_all_string_submatch_n(`^etcd_extra_config\["([^"]+)"\]$`, about, 1)[0]
	name := spelling.setting(null, "key", key)
	name in model.role_settings.same
} else := about

# A problem that the newest release of the series fixes. Files other than inventories have the release in an image, or not at all.
with_upgrade(solvable, version) := with_value(solvable, newest) if {
	not solvable.inventory in formats.paths
	newest := model.series[releases.series(releases.parse(version))].newest
} else := solvable

# A problem based on an assumption, given in words.
assuming(problem, assumption) := object.union(problem, {"assumes": assumption})

# The same, with the assumption at the end of the text.
with_assumption(problem, assumption) := object.union(assuming(problem, assumption), {"text": sprintf("%s, %s", [problem.text, assumption])})

# The same for a problem that rests on a value that no file states. A rule that denies only warns of it: see assumed().
warning_with_assumption(problem, assumption) := object.union(with_assumption(problem, assumption), {"unstated": true})

# A problem that rests on an estimate, with the assumptions of the estimate: only a warning if no file states the workload.
based_on_estimate(profile, problem) := warning_with_assumption(problem, estimates.assumption(profile)) if {
	estimates.assumes_workload(profile)
} else := with_assumption(problem, estimates.assumption(profile))

# The findings of a rule that are not waived.
findings(id, problems) := _open_findings(id, {problem | some problem in problems; not problem.unstated})

# The findings based on a value that no file states, as warnings.
assumed(id, problems) := {object.union(finding, {"severity": "warn"}) |
	some finding in _open_findings(id, {problem | some problem in problems; problem.unstated})
}

_open_findings(id, problems) := {_finding(data.headroom.catalog[id], key, open) |
	some key, hosts in _by_text(problems)
	open := _open(hosts, _waiver_parts(id, key, hosts))
}

# The waived findings of a rule. Their message has the waiver in place of the fix.
waived(id, problems) := {object.union(_finding(data.headroom.catalog[id], key, part.hosts), {"msg": line, "waived": part.waiver}) |
	some key, hosts in _by_text(problems)
	[inventory_name, variable, message, _, _] := key
	some part in _waiver_parts(id, key, hosts)
	line := sprintf("waived: %s: %s%s (until %s: %s)", [
		id,
		_where(inventory_name, part.hosts, _location(inventory_name, part.hosts, variable)),
		message,
		part.waiver.expires,
		part.waiver.reason,
	])
}

# [inventory, about, text, whole, {set, assumes}] → hosts. object.union_n() takes a single pass; a comprehension for each text would be quadratic.
_by_text(problems) := {key: object.keys(hosts) |
	some key, hosts in object.union_n([{_key(problem): {host: true | some host in problem.hosts}} | some problem in problems])
}

_key(problem) := [
	problem.inventory,
	problem.about,
	_shortened(problem.text),
	object.get(problem, "whole", false),
	object.filter(problem, {"set", "assumes"}),
]

# A value may be as long as a file.
_shortened(message) := message if {
	count(message) <= 1500
} else := sprintf("%s… (%d characters in all)", [substring(message, 0, 1000), count(message)])

# The hosts without a waiver; undefined if there are none.
_open(hosts, parts) := hosts if {
	count(parts) == 0
} else := uncovered if {
	uncovered := hosts - union({part.hosts | some part in parts})
	count(uncovered) > 0
}

# The waivers of a problem with the hosts that each covers. Waivers must cover all hosts of a cluster_problem.
_waiver_parts(id, key, hosts) := parts if {
	[inventory_name, _, _, is_whole, _] := key
	parts := waivers.covering(id, inventory_name, hosts)
	_covers(is_whole, hosts, parts)
} else := set()

_covers(false, _, _)

_covers(true, hosts, parts) if hosts == union({part.hosts | some part in parts})

_finding(rule, [inventory_name, variable, message, _, more], hosts) := object.union_n([
	{
		"_loc": location,
		"code": rule.custom.id,
		"fix": object.union({"text": fix}, object.filter(more, {"set"})),
		"hosts": hosts,
		"inventory": inventory_name,
		"msg": sprintf("%s: %s%s. %s", [rule.custom.id, _where(inventory_name, hosts, location), message, fix]),
		"severity": rule.custom.severity,
		"source": rule.custom.source,
		"title": rule.title,
	},
	object.filter(more, {"assumes"}),
	object.filter(rule.custom, {"cis", "stig"}),
]) if {
	location := _location(inventory_name, hosts, variable)
	fix := _fix(rule.custom, inventory_name)
}

# Removes the advice to run the playbook lint if it has run, and advice about Headroom's variables for files that configure etcd directly and for
# inventories of other roles.
_fix(custom, inventory_name) := custom.fix_resolved if {
	files.listed[inventory_name]
} else := custom.fix_in_files if {
	inventory_name in (formats.paths | object.keys(object.get(files.reader, "unparsed", {})))
} else := custom.fix_in_files if {
	detect.format[inventory_name] != "headroom"
	regex.match(`\betcd_|\bthe plan\b`, custom.fix)
} else := custom.fix

# The file with the line if it is known, else the inventory if there are several; and the hosts, if the finding has any.
_where(inventory_name, hosts, location) := concat("", [sprintf("%s: ", [part]) |
	some part in array.concat(_place(inventory_name, location), [text.hosts(hosts) | count(hosts) > 0])
])

_place(inventory_name, location) := [sprintf("%s:%d", [location.file, location.line])] if {
	location.line > 1
} else := [inventory_name | _is_named(inventory_name)]

_is_named(_) if count(inventory.names) > 1

# Files that configure etcd directly are always named.
_is_named(inventory_name) if inventory_name in formats.paths

# The file that sets the variable, else the inventory. Only headroom-lint knows lines; line 1 is there because SARIF and GitHub's annotations
# require one.
_location(inventory_name, hosts, variable) := {"file": place[0], "line": place[1]} if {
	place := formats.inventories[inventory_name].hosts[sort(hosts)[0]].statement.where[variable]
} else := {"file": path, "line": _line_of_variable(path, hosts, variable)} if {
	host := sort(hosts)[0]
	path := folder.origin(inventory_name, host, split(variable, "[")[0])
	path != ""
} else := {"file": variable, "line": 1} if {
	regex.match(`/|\.ya?ml$`, variable)
} else := {"file": inventory_name, "line": _line(inventory_name, hosts, variable)}

_line_of_variable(path, hosts, variable) := number if {
	number := lines.line_of_variable(path, sort(hosts)[0], variable)
} else := _line(path, hosts, variable)

_line(path, hosts, variable) := number if {
	number := lines.line(path, sort(hosts)[0], variable)
} else := number if {
	# The image, or its tag, states the release.
	variable == "etcd_version"
	numbers := [number | some word in ["image", "imageTag", "tag", "version"]; number := lines.line(path, sort(hosts)[0], word)]
	number := numbers[0]
} else := 1
