# METADATA
# title: Data that only a container has
# description: Directories of etcd in a container that no volume holds. They are in the layer of the container, and are removed with it.
package headroom.formats.container_layer

import data.headroom.formats.container
import data.headroom.releases.spelling

# Facts of a statement, {data_dir_in_layer, wal_dir_in_layer}. given: the entries of a member; targets: where volumes are mounted; written: the
# service or container, because a placeholder in it may become a mount. Images other than etcd's own may declare volumes.
facts(reference, given, targets, written) := {sprintf("%s_in_layer", [setting]): {"name": entry.name, "value": entry.value} |
	some setting in ["data_dir", "wal_dir"]
	entries := [entry | some form in ["env", "flag"]; some entry in given; entry.form == form; spelling.setting(null, form, entry.spelling) == setting]
	entry := entries[count(entries) - 1]
	regex.match(`^/[\w./-]+$`, entry.value)
	every target in targets { not startswith(_folder(entry.value), _folder(target)) }
} if {
	container.has_no_settings(reference)
	not regex.match(`\{\{|\{%`, json.marshal(written))
	every target in targets { not contains(target, "$") }
	every entry in given { not entry.spelling in {"config-file", "ETCD_CONFIG_FILE"} }
} else := {}

_folder(path) := sprintf("%s/", [trim_suffix(path, "/")])
