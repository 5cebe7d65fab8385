# METADATA
# title: Ansible can parse every inventory file
# description: |
#   Ansible uses the part of such a file before the error, warns, and continues: hosts and variables are missing, but
#   the run does not fail.
# custom:
#   id: inventory/refused_file
#   severity: deny
#   fix: Fix the file; `ansible-inventory --list` shows what Ansible parsed
#   source: ansible/plugins/inventory/yaml.py
package headroom.rules.inventory.refused_file

import data.headroom.clusters
import data.headroom.inventory
import data.headroom.result
import data.headroom.settings.detect

deny contains finding if some finding in result.findings("inventory/refused_file", problems)

problems contains problem if {
	some name, found in inventory.refused
	_is_relevant(name)
	some path, texts in found
	some text in texts
	problem := {"inventory": name, "hosts": set(), "about": path, "text": sprintf("%s: %s", [path, text])}
}

_is_relevant(name) if not name in clusters.without_members

_is_relevant(name) if detect.is_deployed(name)

_is_relevant(name) if detect.refuses_members(name)
