# METADATA
# title: Command lines
# description: |
#   The words of a command and etcd's flags among them, as a shell and Go's flag package see them. Of the shell only quotes, -c and the
#   ends of lines are supported: of a script, the first command that runs etcd counts, unless another one lacks its --force-new-cluster. A
#   value that looks like a flag counts as one.
package headroom.formats.command_line

import data.headroom.releases.spelling

# parts: an entrypoint and a command, each a text or a list.
words(parts) := [word |
	items := [item | some part in parts; some item in _items(part)]
	some index, item in items
	some quoted in regex.find_n(_word, _commands(items, index, item), -1)
	word := replace(replace(quoted, `"`, ""), "'", "")
]

# Blanks inside a template such as {{ .Values.port }} end no word.
_word := `(?:\{\{[^{}\n]*\}\}|[^\s"']|"[^"]*"|'[^']*')+`

# A text such as sh -c 'etcd --name a' is three words.
_items(part) := [found[1], found[2], found[4]] if {
	is_string(part)
	found := regex.find_all_string_submatch_n(_shell_command, trim_space(part), 1)[0]
} else := [part] if {
	is_string(part)
} else := [sprintf("%v", [item]) | some item in part] if {
	is_array(part)
} else := []

# A shell's script ends a command with its line.
_commands(items, index, item) := replace(replace(item, "\\\n", " "), "\n", " ; ") if {
	regex.match(_script_follows, items[index - 1])
} else := item

_shell_command := sprintf(`^((?:\S*/)?(?:ba|da|a)?sh)\s+(%s)\s+(["'])((?s:.*))["']$`, [_option])

# Such as -c, -ec and -ecx. headroom-lint has the same pattern.
_script_follows := sprintf("^%s$", [_option])

_option := `-[a-z]*c[aefhilmnuvx]*`

# The words after `etcd` up to the shell's next command; all words if the first is a flag. Undefined for other commands.
arguments(command) := _arguments_after(command, executable(command)) if {
	executable(command) >= 0
} else := command if {
	startswith(command[0], "-")
}

_arguments_after(command, position) := array.slice(rest, 0, _end(rest)) if {
	rest := array.slice(command, position + 1, count(command))
}

# Position of the word `etcd` where a command starts, because a data directory may be called etcd too.
executable(command) := [min(found) | some found in [positions - recoveries, positions]; count(found) > 0][0] if {
	positions := {position |
		some position, word in command
		regex.match(`^(.*/)?etcd$`, word)
		not startswith(word, "-")
		not array.concat(command, [""])[position + 1] in _proxies
		_starts_command(command, position)
	}
	recoveries := {position | some position in positions; "--force-new-cluster" in _arguments_after(command, position)}
}

# Commands of etcd that start no member.
_proxies := {"gateway", "grpc-proxy"}

_starts_command(_, 0)

_starts_command(command, position) if regex.match(_script_follows, command[position - 1])

_starts_command(command, position) if regex.match(`^(--|exec|nice|ionice|.*(;|&&|\|\|)|(.*/)?(tini|dumb-init|sudo))$`, command[position - 1])

_end(command) := min({count(command)} | {position | some position, word in command; regex.match(`^([;&|<>]|[0-9]>)`, word)})

# A boolean flag takes no word after it: etcd exits on such a `stray` word.
flags(command) := [object.union(entry, _stray(flag, given, next)) |
	given_words := arguments(command)
	following := array.concat(array.slice(given_words, 1, count(given_words)), ["-"])
	some position, word in given_words
	[flag, given] := _flag(word)
	next := following[position]
	entry := {"name": sprintf("--%s", [flag]), "form": "flag", "spelling": flag, "value": _value(flag, given, next)}
]

_stray(flag, given, next) := {"stray": next} if {
	given == ""
	_is_boolean(flag)
	regex.match(`^[A-Za-z0-9/][\w./:=-]*$`, next)

	# A placeholder may become a flag.
	not regex.match(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`, next)
} else := {}

_flag(word) := [name, given] if {
	[_, name, given] := regex.find_all_string_submatch_n(`^--?([A-Za-z][^=\s$(){}]*)(=.*)?$`, word, 1)[0]
}

_value(_, given, _) := substring(given, 1, -1) if startswith(given, "=")

_value(flag, "", next) := "true" if _has_no_value(flag, next)

_value(flag, "", next) := next if not _has_no_value(flag, next)

_has_no_value(_, next) if _flag(next)

_has_no_value(_, "-")

_has_no_value(flag, _) if _is_boolean(flag)

_is_boolean(flag) if spelling.type_of_setting(spelling.setting(null, "flag", flag)) == "bool"
