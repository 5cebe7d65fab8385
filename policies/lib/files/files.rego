# METADATA
# title: Files that configure etcd themselves
# description: |
#   etcd's own config file, files with its environment, manifests of Kubernetes and of Docker Compose, beside an inventory or alone. Each
#   is known by what is in it, never by its name, and is an inventory of its own here: one group, etcd, whose hosts are the services or
#   containers that run etcd, each with one variable, its statement (see vocabulary/stated.rego).
package headroom.files

import data.headroom.files.compose
import data.headroom.files.config
import data.headroom.files.environment
import data.headroom.files.manifest
import data.headroom.inventory.paths

# Group and host variables are never such files, whatever they hold.
_candidates := {index: entry.contents |
	some index, entry in paths.entries
	is_object(entry.contents)
	not regex.match(`(^|/)(group_vars|host_vars)/`, entry.path)
}

# Index of an entry → host → statement. A file of several documents has several entries.
_found := {index: statements |
	some index, contents in _candidates
	statements := _statements(contents)
	count(statements) > 0
}

_statements(contents) := compose.statements(contents) if {
	is_object(contents.services)
} else := manifest.statements(contents) if {
	is_string(contents.apiVersion)
} else := environment.statements(contents) if {
	environment.recognised(contents)
} else := config.statements(contents) if {
	config.recognised(contents)
}

# The paths of these files.
recognised := {paths.entries[index].path | some index, _ in _found}

# Path → {hosts: host → variables, groups: group → hosts}, which headroom.inventory unites with the others.
inventories := {path: {"hosts": hosts, "groups": {"all": names, "etcd": names}} |
	some path in recognised
	hosts := {_label(name, position): {"statement": statement} |
		some name, statements in _by_name(path)
		some position, statement in statements
	}
	names := object.keys(hosts)
}

# Two documents of one file may have the same name, for example in two namespaces of Kubernetes.
_by_name(path) := {name: sort(statements) |
	named := [[name, statement] | some index, found in _found; paths.entries[index].path == path; some name, statement in found]
	some name in {name | some [name, _] in named}
	statements := {statement | some [other, statement] in named; other == name}
}

_label(name, 0) := name

_label(name, position) := sprintf("%s (%d)", [name, position + 1]) if position > 0
