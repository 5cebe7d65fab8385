# METADATA
# title: The members can be seen
# description: |
#   A linter that sees no etcd member has nothing to say, and must not say that all is well. conftest.toml passes over INI
#   inventories, because conftest stops at nearly all of them; files without an ending are passed over by conftest itself;
#   dynamic and vaulted inventories exist only while Ansible runs.
# custom:
#   id: inventory/no_members
#   severity: deny
#   fix: "If the group has another name, set etcd_group; INI, dynamic and vaulted inventories are read by `ansible-playbook playbooks/lint.yml -i INVENTORY`"
#   source: docs/policies/README.md
package headroom.rules.inventory.no_members

import data.headroom.clusters
import data.headroom.files
import data.headroom.inventory
import data.headroom.result

deny contains finding if some finding in result.findings("inventory/no_members", problems)

problems contains problem if {
	some name in clusters.without_members
	problem := {
		"inventory": name,
		"hosts": set(),
		"about": "etcd_group",
		"text": _text(name, clusters.group[name]),
	}
}

problems contains problem if {
	count(inventory.names) == 0
	problem := {"inventory": ".", "hosts": set(), "about": "etcd_group", "text": "there is no inventory in YAML or JSON here"}
}

_text(name, group) := sprintf("no host is in group %q", [group]) if {
	files.listed[name]
} else := sprintf("no host of group %q can be seen in the YAML and JSON inventory files of %s", [group, name])
