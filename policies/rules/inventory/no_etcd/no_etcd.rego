# METADATA
# title: The linted files deploy etcd
# description: |
#   The linter checks inventories with a group of etcd members, and files that configure etcd. If it finds neither, it has
#   checked nothing, and must not pass. A file that says that etcd is elsewhere, such as an external cluster of kubeadm, is enough.
# custom:
#   id: inventory/no_etcd
#   severity: warn
#   fix: Lint the file that starts etcd, or the whole inventory
#   source: docs/inventory.md
package headroom.rules.inventory.no_etcd

import data.headroom.clusters
import data.headroom.files
import data.headroom.formats
import data.headroom.inventory
import data.headroom.inventory.definitions
import data.headroom.inventory.paths
import data.headroom.result
import data.headroom.settings.detect

warn contains finding if some finding in result.findings("inventory/no_etcd", problems)

problems contains {"inventory": _named, "hosts": set(), "about": "etcd_group", "text": _text} if {
	every name in inventory.names {
		name in clusters.without_members
		not detect.is_deployed(name)
	}
	input != []
	count(object.get(files.reader, "unparsed", {})) == 0

	not _is_without_etcd
	not formats.is_elsewhere

	# inventory/unknown_value already reports future members with unknown values.
	every profile in clusters.profiles { count(profile.unknown) == 0 }
}

# headroom-lint has already reported each of these files.
_is_without_etcd if {
	count(files.reader.without_etcd) > 0
	count(files.entries) == 0
}

_text := "no file here has hosts, so the variables of etcd are checked as those of a future member" if {
	some name in inventory.names
	detect.has_variables(name)
} else := "no file here deploys etcd: none has a group of members, variables of a server, or a configuration of etcd" if {
	_is_inventory
} else := "no file here configures etcd: none starts a member, and none has a setting of a server"

_is_inventory if count(paths.vars_names) > 0

_is_inventory if count(files.listed) > 0

_is_inventory if {
	some definition in definitions.groups
	is_object(definition.body)
	paths.is_group(definition.body)
}

# The finding names an inventory if there is one, so that a waiver can cover it.
_named := array.concat(sort(inventory.names), ["."])[0]
