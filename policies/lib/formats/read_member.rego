# METADATA
# title: Members that headroom-lint found
# description: |
#   A member in a file that conftest cannot parse, such as a systemd unit with its drop-ins and environment files, or one that runs:
#   {name, format, image, mounts, folders, release, command, environment, limit, memlock, facts, unknown, silent, twice, where}. mounts: the container's paths at
#   which volumes are; folders: those paths → the host's folder, empty for other volumes; command: etcd's words; environment: name → value; limit: null or {name, size}; facts: io_class and nice → {name, value}; unknown:
#   what the author wrote → reason; silent: canonical names of settings that may be elsewhere; twice: flag → the variable
#   that sets it too; where: flag or variable → [path, line]. Of a member that runs, the audit adds workload (as measured) and
#   live: fact → {name, value}: alarms, healthy, db_size, quota (bytes), db_free (bytes of free pages), lag (raft entries), fsync_p99_us, commit_p99_us (name:
#   samples and span), leader_changes (of the window), elections (since the start), uptime (seconds), certificate_days,
#   certificate_start (if it is not valid yet), same_hash, backup_hours (of the newest) and backup_missing. Of its process it adds
#   config (the parsed config file, with which command has no flags) and the facts anonymous, memory_limit, disk_free, disk_size (bytes), oom_kills and
#   certificate_files ([{path, days, until, from}]; from: null once it is valid).
package headroom.formats.read_member

import data.headroom.formats.command_line
import data.headroom.formats.config_file
import data.headroom.formats.container
import data.headroom.formats.statement_builder
import data.headroom.releases.spelling
import data.headroom.units

# The member's name → its statement.
statements(member) := {member.name: statement_builder.build(member.format, container.unless_configured(member.image, object.get(member, "mounts", []), object.union_n([
	{
		"given": array.concat(
			array.concat(command_line.flags(member.command), container.environment_of_image(member.image, member.command, member.environment)),
			array.concat(config_file.given(object.get(member, "config", {})), object.get(member, "given", [])),
		),
		"unknown": {written: ["extra_config", reason] | some written, reason in member.unknown},
		"where": member.where,
		"silent": array.concat(member.silent, _silent(member)),
		"workload": object.get(member, "workload", {}),
	},
	_release(member),
	_data_on_host(member),
	{"twice": {name: [sprintf("--%s", [flag]), variable] |
		some flag, variable in object.get(member, "twice", {})
		name := spelling.setting(null, "flag", flag)
	}},
	_limit(member.limit),
	_memlock(member.memlock),
])))}

_data_on_host(member) := object.union(on_host, {"facts": object.union(object.get(on_host, "facts", {}), _facts(member))}) if {
	given := array.concat(command_line.flags(member.command), container.environment(member.environment))
	on_host := container.data_on_host(given, object.get(member, "folders", {}))
}

_facts(member) := object.union(object.get(member, "facts", {}), object.get(member, "live", {}))

# The container's volumes are known where its command is.
_silent(member) := container.may_set_data_dir(member.image, {target | some target in member.mounts}) if {
	is_string(member.image)
	member.format in {"script", "systemd unit"}
} else := ["data_dir"] if {
	is_string(member.image)
} else := []

_release(member) := {"version": member.release} if {
	is_string(member.release)
} else := {"no_version": "the member returned no status"} if {
	member.format == "running member"
} else := container.release(member.image)

_limit(limit) := {"limit": {"name": limit.name, "bytes": bytes}} if {
	bytes := units.parse_size(limit.size)
} else := {}

# systemd's "infinity" is not a size.
_memlock(size) := {"memlock": bytes} if {
	bytes := units.parse_size(size)
} else := {}
