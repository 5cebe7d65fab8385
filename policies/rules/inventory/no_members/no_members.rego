# METADATA
# title: The inventory has etcd members
# description: |
#   A linter that sees no etcd member cannot check anything, and must not pass. conftest.toml excludes INI inventories,
#   because conftest fails on nearly all of them; conftest itself skips files without an extension; dynamic and vaulted
#   inventories can only be read while Ansible runs.
# custom:
#   id: inventory/no_members
#   severity: deny
#   fix: If the group has another name, set etcd_group; `ansible-playbook etcdops.headroom.lint -i INVENTORY` reads INI, dynamic and vaulted inventories
#   fix_resolved: If the group has another name, set etcd_group
#   source: docs/policies/README.md
package headroom.rules.inventory.no_members

import data.headroom.clusters
import data.headroom.files
import data.headroom.result
import data.headroom.settings.detect

deny contains finding if some finding in result.findings("inventory/no_members", problems)

problems contains problem if {
	some name in clusters.without_members
	detect.is_deployed(name)
	problem := {
		"inventory": name,
		"hosts": set(),
		"about": "etcd_group",
		"text": _text(name, clusters.group[name]),
	}
}

# An INI inventory or an empty folder: conftest read nothing, and nothing was judged.
problems contains problem if {
	input == []
	problem := {"inventory": ".", "hosts": set(), "about": "etcd_group", "text": "there is no YAML or JSON file here"}
}

_text(name, group) := sprintf("group %q has no hosts", [group]) if {
	files.listed[name]
} else := sprintf("no host of group %q is in the YAML and JSON inventory files of %s", [group, name])
