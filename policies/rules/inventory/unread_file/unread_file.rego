# METADATA
# title: The linter can read every file
# description: |
#   The linter cannot see which variables or hosts such a file defines, so all other rules run without them.
# custom:
#   id: inventory/unread_file
#   severity: warn
#   fix: Correct the file, or leave it out with --ignore. For dynamic and encrypted inventories run `ansible-playbook etcdops.headroom.lint -i INVENTORY`, with the vault password if there is one
#   fix_in_files: Correct the file, lint the one that starts etcd instead, or leave this one out with --ignore
#   source: docs/policies/README.md
package headroom.rules.inventory.unread_file

import data.headroom.clusters
import data.headroom.files
import data.headroom.inventory
import data.headroom.result
import data.headroom.settings.detect

warn contains finding if some finding in result.findings("inventory/unread_file", problems)

problems contains {"inventory": name, "hosts": set(), "about": path, "text": sprintf("%s is %s", [path, text])} if {
	some name, found in inventory.opaque
	some path, text in found
	_is_relevant(name, text)
}

# Files about etcd that headroom-lint cannot parse: path → reason.
problems contains {"inventory": path, "hosts": set(), "about": path, "text": text} if {
	some path, reason in files.reader.unparsed
	text := sprintf("%s was %s: %s", [path, _extent(path), reason])
}

_extent(path) := "read only in part" if {
	some entry in files.entries
	entry.path == path
	entry.contents != {}
} else := "not read"

_is_relevant(name, _) if not name in clusters.without_members

_is_relevant(name, _) if detect.is_deployed(name)

_is_relevant(_, "encrypted as a whole")
