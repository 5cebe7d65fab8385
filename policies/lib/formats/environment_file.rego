# METADATA
# title: Environment files
# description: Files such as etcd.env, which systemd's EnvironmentFile= or a container reads. Detected by a variable that only a server has.
package headroom.formats.environment_file

import data.headroom.formats.container
import data.headroom.formats.statement_builder
import data.headroom.releases.spelling

is_format_of(document) if {
	some name, _ in document
	spelling.is_server_variable(name)
	every value in document { is_string(value) }
}

# The file's only member → its statement. Release and flags are stated elsewhere.
statements(document) := {_name(document): statement_builder.build("environment file", {
	"given": container.environment(document),
	"unknown": {"what the unit or the container adds": ["extra_config", "flags are not in this file"]},
})}

_name(document) := document.ETCD_NAME if {
	document.ETCD_NAME != ""
} else := "etcd"
