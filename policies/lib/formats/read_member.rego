# METADATA
# title: Members that headroom-lint found
# description: |
#   A member in a file that conftest cannot parse, such as a systemd unit with its drop-ins and environment files, or a running member that
#   the audit measured. A comment in this file lists the fields.
package headroom.formats.read_member

import data.headroom.formats.command_line
import data.headroom.formats.config_file
import data.headroom.formats.container
import data.headroom.formats.statement_builder
import data.headroom.releases
import data.headroom.releases.spelling
import data.headroom.units

# The fields of every member:
#   name         string
#   format       string, such as "systemd unit" or "running member"
#   image        string or null
#   release      string or null
#   command      list of strings: etcd's program and its flags
#   environment  object: name → value
#   limit        {name, size} or null: the memory limit
#   memlock      {name, size} or null: the size that may be locked into memory
#   unknown      object: what the author wrote → why its value is unknown
#   silent       list of strings: canonical names of settings that may be set elsewhere
#   where        object: flag or variable → [path, line]
#
# Optional fields of every member:
#   given        list of {name, form, spelling, value}: further settings
#   mounts       list of strings: paths in the container at which volumes are mounted
#   folders      object: such a path → the host's folder, empty for other volumes
#   in_memory    list of strings: such paths with a tmpfs
#   facts        object: io_class and nice → {name, value}
#   commented    list of strings: variables whose value ends in what the author meant as a comment
#   twice        object: flag → the variable that sets it too
#   ignored      object: limit as the author wrote it → why systemd ignores it
#   complete     true if nothing but the files that were read can set a setting
#   config       object: the parsed config file
#
# The audit adds to a running member:
#   workload     object: the measured workload
#   live         object: fact → {name, value}
#   kubernetes   true if it has keys of Kubernetes, whose API server compacts
#
# The facts in `live` that come from the cluster:
#   alarms, healthy, same_hash
#   db_size, quota, db_free                 bytes; db_free counts the free pages
#   lag                                     raft entries
#   fsync_p99_us, commit_p99_us             microseconds; `name` has the number of samples and their period
#   leader_changes                          number during the measurement
#   elections                               number since the member started
#   uptime                                  seconds
#   compacted                               true if the cluster was ever compacted
#   certificate_days                        days until the certificate expires
#   certificate_start                       when it becomes valid, if that is in the future
#   backup_hours                            age of the newest backup
#   backup_missing                          true if no backup exists; `name` lists the directories
#
# The facts in `live` that come from the process:
#   anonymous, memory_limit                 bytes
#   disk_free, disk_size                    bytes
#   oom_kills                               number
#   certificate_files                       list of {path, days, until, from}; `from` is null once the certificate is valid

# The member's name → its statement.
statements(member) := {member.name: statement_builder.build(member.format, container.unless_configured(member.image, object.get(member, "mounts", []), object.union_n([
	{
		"given": array.concat(
			array.concat(command_line.flags(member.command), _environment(member)),
			array.concat(config_file.given(object.get(member, "config", {})), object.get(member, "given", [])),
		),
		"unknown": object.union(
			{written: ["extra_config", reason] | some written, reason in member.unknown},
			{written: ["memory_limit", reason] | some written, reason in object.get(member, "ignored", {})},
		),
		"where": member.where,
		"complete": object.get(member, "complete", false),
		"silent": array.concat(member.silent, _silent(member)),
		"workload": object.get(member, "workload", {}),
		"kubernetes": object.get(member, "kubernetes", false),
	},
	_release(member),
	_data_on_host(member),
	{"twice": object.union(container.emptied(member.command, member.environment), {name: [sprintf("--%s", [flag]), variable] |
		some flag, variable in object.get(member, "twice", {})
		name := spelling.setting(null, "flag", flag)
	})},
	_limit(member.limit),
	_memlock(member.memlock),
])))}

_environment(member) := [object.union(entry, _commented(member, entry)) |
	some entry in container.environment_of_image(member.image, member.command, member.environment)
]

_commented(member, entry) := {"commented": true} if {
	entry.name in object.get(member, "commented", [])
} else := {}

_data_on_host(member) := object.union(on_host, {"facts": object.union_n([object.get(on_host, "facts", {}), in_memory, _facts(member)])}) if {
	given := array.concat(
		array.concat(command_line.flags(member.command), container.environment(member.environment)),
		config_file.given(object.get(member, "config", {})),
	)
	folders := object.get(member, "folders", {})
	on_host := container.data_on_host(given, folders)
	in_memory := {"data_fstype": {"name": sprintf("the volume at %s", [path]), "value": "tmpfs"} |
		path := container.data_mount(given, {path: path | some path, _ in folders}).source
		path in object.get(member, "in_memory", [])
	}
}

_facts(member) := object.union(object.get(member, "facts", {}), object.get(member, "live", {}))

# The container's volumes are known where its command is.
_silent(member) := container.may_set_data_dir(member.image, {target | some target in member.mounts}) if {
	is_string(member.image)
	member.format in {"script", "systemd unit"}
} else := ["data_dir"] if {
	is_string(member.image)
} else := []

_release(member) := {"no_version": sprintf("the package has any release of %s", [member.release])} if {
	regex.match(`^[0-9]+\.[0-9]+$`, member.release)
	not releases.end_of_life(member.release)
} else := {"version": member.release} if {
	is_string(member.release)
} else := {"no_version": "the member returned no status"} if {
	member.format == "running member"
} else := container.release(member.image)

_limit(limit) := {"limit": {"name": limit.name, "bytes": bytes}} if {
	bytes := units.parse_size(limit.size)
} else := {}

# systemd's "infinity" is not a size.
_memlock(limit) := {"memlock": {"name": limit.name, "bytes": bytes}} if {
	bytes := units.parse_size(limit.size)
} else := {}
