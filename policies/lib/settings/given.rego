# METADATA
# title: Entries as they are written
# description: |
#   For rules about the text of a setting, such as the members in initial-cluster, and about settings that must not be missing. The entries of a
#   member are {name, form, spelling, value}; profile is one of clusters.profiles.
package headroom.settings.given

import data.headroom.files
import data.headroom.releases.spelling

# The entries that set a setting to a text, and that etcd reads.
entries(etcd, setting) := [entry |
	some entry in etcd.given
	is_string(entry.value)
	_is_read(etcd, entry)
	spelling.setting(etcd.release, entry.form, entry.spelling) == setting
]

# etcd ignores flags and variables if it has a config file.
_is_read(etcd, _) if not etcd.config_file

_is_read(_, entry) if entry.form == "key"

# systemd lets EnvironmentFile= win over Environment=, and the linter has not read this file.
is_replaceable(profile, found) if {
	some entry in found
	entry.form == "env"
	some written, _ in profile.unknown
	startswith(written, "EnvironmentFile=")
}

# Whether nothing but the linted files can set a setting of these members.
states_everything(profile) if {
	profile.etcd.complete
	not _is_merged(profile)
}

_is_merged(profile) if {
	profile.etcd.format == "compose"
	is_merged(profile.inventory)
}

# Compose merges compose.yml with compose.override.yml, and with any file that --file names. A template, such as compose.yml.j2, may have conditions.
is_merged(path) if regex.match(`override|compose\.[^/]+\.[^/]+$`, path)

is_merged(path) if {
	some other in files.paths
	other != path
	regex.match(`compose[^/]*\.(ya?ml|json)$`, other)
	files.folder(other) == files.folder(path)
}
