# METADATA
# title: The output of ansible-inventory --list
# description: |
#   One document with the variables of every host already merged by Ansible itself: nothing is lost but what a template or a vault hides.
package headroom.inventory.listed

import data.headroom.inventory.paths
import data.headroom.inventory.values

_groups := {path: object.remove(document, {"_meta"}) | some path, document in paths.listed}

# Group → its parents and itself; a group that is only named as a child has no entry of its own in the document.
_parents_entries[path][child] contains group if {
	some path, groups in _groups
	some group, body in groups
	some child in object.get(body, "children", [])
}

_names := {path: names |
	some path, groups in _groups
	children := {child | some body in groups; some child in object.get(body, "children", [])}
	names := (object.keys(groups) | children) | {"all", "ungrouped"}
}

_parents := {path: {group: object.get(_parents_entries, [path, group], set()) | some group in names} | some path, names in _names}

_ancestors := {path: {group: graph.reachable(graph_of_path, {group}) | some group, _ in graph_of_path} | some path, graph_of_path in _parents}

_member_entries[path][ancestor] contains host if {
	some path, groups in _groups
	some group, body in groups
	some host in object.get(body, "hosts", [])
	some ancestor in _ancestors[path][group]
}

_members := {path: groups | some path, groups in _member_entries}

# Hosts without variables have no entry below _meta.
_hosts := {path: hosts |
	some path, document in paths.listed
	hosts := object.keys(document._meta.hostvars) | object.get(_members, [path, "all"], set())
}

inventories := {path: {"hosts": hosts, "groups": groups, "unknown": unknown, "opaque": {}, "refused": {}} |
	some path, document in paths.listed
	wrapped := {host: values.wrap_listed(object.get(document._meta.hostvars, host, {}), path) | some host in _hosts[path]}
	hosts := {host: values.known(variables) | some host, variables in wrapped}
	unknown := {host: reasons | some host, variables in wrapped; reasons := values.unknown(variables); count(reasons) > 0}
	groups := object.union({group: set() | some group in _names[path]}, object.get(_members, path, {}))
}
