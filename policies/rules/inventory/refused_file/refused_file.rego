# METADATA
# title: Ansible can parse every inventory file
# description: |
#   Ansible keeps what it parsed of such a file before the error, warns, and goes on: hosts and variables are missing
#   without a failure.
# custom:
#   id: inventory/refused_file
#   severity: deny
#   fix: Fix the file; `ansible-inventory --list` shows what Ansible parsed
#   source: ansible/plugins/inventory/yaml.py
package headroom.rules.inventory.refused_file

import data.headroom.inventory
import data.headroom.result

deny contains finding if some finding in result.findings("inventory/refused_file", problems)

problems contains problem if {
	some name, found in inventory.refused
	some path, texts in found
	some text in texts
	problem := {"inventory": name, "hosts": set(), "about": path, "text": sprintf("%s: %s", [path, text])}
}
