# METADATA
# title: Findings
# description: |
#   Builds what conftest prints, from a rule's own METADATA and from the problems it found: one line with the value found, where, the
#   limit and the fix. A rule says each thing once; titles and fixes are never typed again. The METADATA is read as data/rules.json has
#   it, rendered from the rules: OPA would copy what rego.metadata.chain() gives into every rule that calls it.
package headroom.result

import data.headroom.files
import data.headroom.inventory
import data.headroom.inventory.folder
import data.headroom.waivers

# What a rule found in a profile or a place; `about` is the variable (or the file) that it is about. Hosts with the same text share a line.
problem(subject, about, text) := {"inventory": subject.inventory, "hosts": subject.hosts, "about": about, "text": text}

# The same for what hosts have only together, as a cluster.
cluster_problem(inventory_name, hosts, about, text) := {
	"inventory": inventory_name,
	"hosts": hosts,
	"about": about,
	"text": text,
	"whole": true,
}

# id: the calling rule's own. What is waived is left out.
findings(id, problems) := {_finding(data.headroom.catalog[id], key, open) |
	some key, hosts in _by_text(problems)
	open := _open(hosts, _waived(id, key, hosts))
}

# The same for what is waived: each names its waiver instead of the fix.
waived(id, problems) := {object.union(_finding(data.headroom.catalog[id], key, part.hosts), {"msg": line, "waived": part.waiver}) |
	some key, hosts in _by_text(problems)
	some part in _waived(id, key, hosts)
	line := sprintf("waived: %s: %s%s (until %s: %s)", [
		id,
		_where(key[0], part.hosts),
		key[2],
		part.waiver.expires,
		part.waiver.reason,
	])
}

# Objects are united natively, which is one pass; a comprehension over problems for each text would be quadratic.
_by_text(problems) := {key: object.keys(hosts) |
	some key, hosts in object.union_n([{_key(problem): {host: true | some host in problem.hosts}} | some problem in problems])
}

_key(problem) := [problem.inventory, problem.about, _readable(problem.text), object.get(problem, "whole", false)]

# A value that is a whole file is not for a line.
_readable(text) := text if {
	count(text) <= 1500
} else := sprintf("%s… (%d characters in all)", [substring(text, 0, 1000), count(text)])

# The hosts that no waiver covers; undefined where nothing is left to say.
_open(hosts, parts) := hosts if {
	count(parts) == 0
} else := uncovered if {
	uncovered := hosts - union({part.hosts | some part in parts})
	count(uncovered) > 0
}

# Each waiver with the hosts that it covers. What hosts have as a whole is waived for all of them or not at all.
_waived(id, key, hosts) := parts if {
	parts := waivers.covering(id, key[0], hosts)
	_counts(key[3], hosts, parts)
} else := set()

_counts(false, _, _)

_counts(true, hosts, parts) if hosts == union({part.hosts | some part in parts})

_finding(about, [source, variable, text, _], hosts) := {
	"_loc": _location(source, hosts, variable),
	"code": about.custom.id,
	"fix": about.custom.fix,
	"hosts": hosts,
	"inventory": source,
	"msg": sprintf("%s: %s%s. %s", [about.custom.id, _where(source, hosts), text, about.custom.fix]),
	"severity": about.custom.severity,
	"source": about.custom.source,
	"title": about.title,
}

# Which inventory, if there are several, and which hosts, if it is about hosts.
_where(source, hosts) := concat("", [sprintf("%s: ", [part]) |
	some part in array.concat([source | _is_named(source)], [names(hosts) | count(hosts) > 0])
])

_is_named(_) if count(inventory.names) > 1

# A file that configures etcd itself is always named.
_is_named(source) if source in files.recognised

# Three names, so that a line stays a line.
names(hosts) := concat(", ", sort(hosts)) if {
	count(hosts) <= 4
} else := sprintf("%s and %d more", [concat(", ", array.slice(sort(hosts), 0, 3)), count(hosts) - 3])

# The file to look at: where the variable was set, else the inventory itself. No parser of conftest hands over positions, so line 1 stands
# for the whole file: SARIF and GitHub's annotations are not valid without a line.
_location(source, hosts, variable) := {"file": path, "line": 1} if {
	host := sort(hosts)[0]
	path := folder.origin(source, host, split(variable, "[")[0])
	path != ""
} else := {"file": variable, "line": 1} if {
	regex.match(`/|\.ya?ml$`, variable)
} else := {"file": source, "line": 1}
