# METADATA
# title: Files with etcd's environment
# description: |
#   Files such as etcd.env, which systemd's EnvironmentFile= or a container reads. Known by a variable that only a server of etcd has.
package headroom.files.environment

import data.headroom.files.reading
import data.headroom.vocabulary.recognised as vocabularies

# Whether all is text, and a server's.
recognised(document) if {
	some name, _ in document
	vocabularies.server_only(name)
	every value in document { is_string(value) }
}

# The only member, with its statement. Such a file says nothing of the release, and nothing of flags beside it.
statements(document) := {_name(document): reading.statement("environment file", {
	"given": reading.environment(document),
	"unknown": {"what the unit or the container adds": ["extra_config", "flags are not in this file"]},
})}

_name(document) := document.ETCD_NAME if {
	document.ETCD_NAME != ""
} else := "etcd"
