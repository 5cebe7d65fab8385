# METADATA
# title: The output of ansible-inventory --list
# description: |
#   One document with the variables of every host already merged by Ansible itself: nothing is lost but what a template or a vault hides.
package headroom.inventory.listed

import data.headroom.inventory.paths
import data.headroom.inventory.values

_groups := {path: object.remove(document, {"_meta"}) | some path, document in paths.listed}

_names := {path: names |
	some path, groups in _groups
	children := {child | some body in groups; some child in object.get(body, "children", [])}
	names := (object.keys(groups) | children) | {"all", "ungrouped"}
}

_edges := {[path, group, child] |
	some path, groups in _groups
	some group, body in groups
	some child in object.get(body, "children", [])
}

_stated_parents := {key: stated |
	some key in {[path, child] | some [path, _, child] in _edges}
	stated := {group | some [path, group, child] in _edges; [path, child] == key}
}

# A group that is only named as a child has no entry of its own in the document.
_parents := {path: {group: object.get(_stated_parents, [[path, group]], set()) | some group in names} | some path, names in _names}

_ancestors := {path: {group: graph.reachable(graph_of_path, {group}) | some group, _ in graph_of_path} | some path, graph_of_path in _parents}

_memberships := {[path, ancestor, host] |
	some path, groups in _groups
	some group, body in groups
	some ancestor in _ancestors[path][group]
	some host in object.get(body, "hosts", [])
}

_members := object.union_n([{path: {group: hosts}} |
	some key in {[path, group] | some [path, group, _] in _memberships}
	[path, group] := key
	hosts := {host | some [other, name, host] in _memberships; [other, name] == key}
])

# Hosts without variables have no entry below _meta.
_hosts := {path: hosts |
	some path, document in paths.listed
	hosts := object.keys(document._meta.hostvars) | object.get(_members, [path, "all"], set())
}

inventories := {path: {"hosts": hosts, "groups": groups, "unknown": unknown, "opaque": {}, "refused": {}} |
	some path, document in paths.listed
	found := {host: values.listed(object.get(document._meta.hostvars, host, {})) | some host in _hosts[path]}
	hosts := {host: variables.known | some host, variables in found}
	unknown := {host: variables.unknown | some host, variables in found; count(variables.unknown) > 0}
	groups := object.union({group: set() | some group in _names[path]}, object.get(_members, path, {}))
}
