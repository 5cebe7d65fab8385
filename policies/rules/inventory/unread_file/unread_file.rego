# METADATA
# title: Every file can be read here
# description: |
#   What such a file sets or which hosts it names is not seen by the folder form of this linter, so all the other rules
#   speak without it.
# custom:
#   id: inventory/unread_file
#   severity: warn
#   fix: Run `ansible-playbook playbooks/lint.yml -i INVENTORY`, with the vault's password if there is one
#   source: docs/policies/README.md
package headroom.rules.inventory.unread_file

import data.headroom.inventory
import data.headroom.result

warn contains finding if some finding in result.findings("inventory/unread_file", problems)

problems contains {"inventory": name, "hosts": set(), "about": path, "text": sprintf("%s is %s", [path, text])} if {
	some name, found in inventory.opaque
	some path, text in found
}
