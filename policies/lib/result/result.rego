# METADATA
# title: Findings
# description: |
#   Builds what conftest prints, from a rule's own METADATA and from the problems it found: one line with the value found, where, the
#   limit and the fix. A rule says each thing once; titles and fixes are never typed again.
package headroom.result

import data.headroom.files
import data.headroom.inventory
import data.headroom.inventory.folder

# chain: rego.metadata.chain() of the calling rule. problems: a set of {inventory, hosts, about, text}; `about` is the variable (or the
# file) that the finding is about. Hosts with the same text share a line.
findings(chain, problems) := {finding |
	about := package_annotations(chain)
	some key in {[problem.inventory, problem.about, problem.text] | some problem in problems}
	[source, variable, text] := key
	hosts := {host |
		some problem in problems
		[problem.inventory, problem.about, problem.text] == key
		some host in problem.hosts
	}
	finding := {
		"_loc": _location(source, hosts, variable),
		"code": about.custom.id,
		"fix": about.custom.fix,
		"hosts": hosts,
		"msg": sprintf("%s: %s%s. %s", [about.custom.id, _where(source, hosts), text, about.custom.fix]),
		"severity": about.custom.severity,
		"source": about.custom.source,
		"title": about.title,
	}
}

package_annotations(chain) := [entry.annotations | some entry in chain; entry.annotations.scope == "package"][0]

_where(source, hosts) := sprintf("%s%s: ", [_inventory_prefix(source), names(hosts)]) if {
	count(hosts) > 0
} else := _inventory_prefix(source)

# Which inventory, if there are several; a file that configures etcd itself is always named.
_inventory_prefix(source) := sprintf("%s: ", [source]) if {
	count(inventory.inventories) > 1
} else := sprintf("%s: ", [source]) if {
	source in files.recognised
} else := ""

# Three names, so that a line stays a line.
names(hosts) := concat(", ", sort(hosts)) if {
	count(hosts) <= 4
} else := sprintf("%s and %d more", [concat(", ", array.slice(sort(hosts), 0, 3)), count(hosts) - 3])

# The file to look at: where the variable was set, else the inventory itself. There are no line numbers in what conftest hands over.
_location(source, hosts, variable) := {"file": path, "line": 1} if {
	host := sort(hosts)[0]
	path := folder.origin(source, host, split(variable, "[")[0])
	path != ""
} else := {"file": variable, "line": 1} if {
	contains(variable, "/")
} else := {"file": source, "line": 1}
