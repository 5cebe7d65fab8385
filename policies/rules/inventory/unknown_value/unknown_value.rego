# METADATA
# title: Every value that matters is known
# description: |
#   A value that cannot be resolved is unknown: it never passes a rule and is never guessed. Templates and vaults are
#   only text until Ansible runs, conftest loses the order of the keys within a file, and some YAML scalars are
#   ambiguous. Rules that need the value skip these hosts.
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

_text(variable, reason) := sprintf("%s is unknown (%s), so rules that need it are skipped", [variable, reason])
