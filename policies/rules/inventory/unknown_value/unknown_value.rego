# METADATA
# title: Every value that matters is known
# description: |
#   What cannot be resolved is unknown, never a pass and never a guess: templates and vaults are text until Ansible runs,
#   conftest loses the order of keys in one file, and some scalars of YAML mean two things. Rules that need the value do
#   not speak for these hosts.
# custom:
#   id: inventory/unknown_value
#   severity: warn
#   fix: "Write the value out, or lint what Ansible resolves: `ansible-playbook playbooks/lint.yml -i INVENTORY`"
#   source: docs/policies/README.md
package headroom.rules.inventory.unknown_value

import data.headroom.clusters
import data.headroom.result

warn contains finding if some finding in result.findings("inventory/unknown_value", problems)

problems contains result.problem(profile, variable, _text(variable, reason)) if {
	some profile in clusters.profiles
	some variable, reason in profile.unknown
}

problems contains result.problem(found, "etcd_cluster_name", _text("etcd_cluster_name", found.reason)) if {
	some found in clusters.without_cluster
}

_text(variable, reason) := sprintf("%s is not known (%s), and rules that need it are silent", [variable, reason])
