# METADATA
# title: Every value that matters is known
# description: |
#   A value that cannot be resolved is unknown, and the linter does not guess it. Templates and vaults are plain text
#   until Ansible runs, conftest loses the order of the keys within a file, and some YAML scalars are ambiguous.
#   Rules that need the value skip these hosts.
# custom:
#   id: inventory/unknown_value
#   severity: warn
#   fix: "Write the value out, or lint what Ansible resolves: `ansible-playbook etcdops.headroom.lint -i INVENTORY`"
#   fix_resolved: Write the value out
#   fix_in_files: Write the value out, or lint this file together with those that fill it in
#   source: docs/policies/README.md
package headroom.rules.inventory.unknown_value

import data.headroom.clusters
import data.headroom.result
import data.headroom.text

warn contains finding if some finding in result.findings("inventory/unknown_value", problems)

# One line for a host or a file, however many of its values are unknown.
problems contains result.problem(profile, sort(object.keys(profile.unknown))[0], _text(profile.unknown)) if {
	some profile in clusters.profiles
	count(profile.unknown) > 0
}

problems contains result.problem(found, "etcd_cluster_name", _text({"etcd_cluster_name": found.reason})) if {
	some found in clusters.without_cluster
}

_text(unknown) := sprintf("%s, so rules that need %s are skipped", [concat("; ", parts), pronoun]) if {
	parts := [sprintf("%s %s unknown (%s)", [text.hosts(variables), _number(["is", "are"], variables), reason]) |
		some reason in {reason | some reason in unknown}
		variables := {_readable(variable) | some variable, why in unknown; why == reason}
	]
	pronoun := _number(["it", "them"], unknown)
}

# headroom-lint's placeholder for lines of a template.
_readable(variable) := "a flag under a condition of the template" if {
	variable == "{{condition}}"
} else := variable

# The singular or the plural of a word.
_number(forms, things) := forms[min([count(things), 2]) - 1]
