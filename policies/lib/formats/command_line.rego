# METADATA
# title: Command lines
# description: |
#   The words of a command and etcd's flags among them, as a shell and Go's flag package see them. Of the shell only quotes, -c and the
#   ends of lines are supported: of a script, the first command that runs etcd counts, unless another one lacks its --force-new-cluster. A
#   value that looks like a flag counts as one. No shell splits the items of a list or removes their quotes.
package headroom.formats.command_line

import data.headroom.releases.spelling

# parts: an entrypoint and a command, each a text or a list.
words(parts) := [word |
	items := [item | some part in parts; some item in _items(part)]
	whole := [_is_whole(part) | some part in parts; some _ in _items(part)]
	some index, item in items
	some word in _words_of(items, index, item, whole[index])
]

_is_whole(part) if {
	is_array(part)
} else := false

_words_of(items, index, item, is_whole) := [item | item != ""] if {
	is_whole
	not _ends_in_shell(array.concat([""], items)[index])
	not _is_program(index, item)
} else := [replace(replace(quoted, `"`, ""), "'", "") | some quoted in regex.find_n(_word, _commands(items, index, item), -1)]

# A program's name has no blanks, so its item is a whole command: it cannot start, but its flags are judged.
_is_program(0, item) if not startswith(item, "-")

# Blanks inside a template such as {{ .Values.port }} do not end a word.
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

# In a shell's script a command ends with its line, or with a semicolon, which may directly follow its last word.
_commands(items, index, item) := regex.replace(lines, `([^\s;&|\\])(;;?|&&|\|\|)(\s|$)`, "$1 $2 ") if {
	lines := replace(replace(item, "\\\n", " "), "\n", " ; ")
	_ends_in_shell(items[index - 1])
} else := item

# An entrypoint such as sh -c may be a text.
_ends_in_shell(item) if regex.match(sprintf(`(^|\s)%s$`, [_option]), item)

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

# A parenthesis that opens directly before etcd closes after its last word.
_arguments_after(command, position) := array.concat(array.slice(words, 0, last), [trim_right(words[last], ")")]) if {
	startswith(command[position - 1], "(")
	words := _until_end(command, position)
	last := count(words) - 1
	last >= 0
} else := _until_end(command, position)

_until_end(command, position) := array.slice(rest, 0, _end(rest)) if {
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

_starts_command(command, position) if regex.match(_runs, command[position - 1])

# A wrapper runs it, as in timeout 60 etcd.
_starts_command(command, position) if {
	regex.match(_follows, array.concat(command, [""])[position + 1])
	not regex.match(_before_user, command[position - 1])
	some start, word in array.slice(command, 0, position)
	regex.match(_wrapper, word)
	every offset, _ in array.slice(command, start + 1, position) { _is_argument(command, (start + 1) + offset) }
}

_is_argument(command, position) if regex.match(_argument, command[position])

_is_argument(command, position) if regex.match(_wrapper, command[position])

_is_argument(command, position) if regex.match(_before_value, command[position - 1])

# headroom-lint has the same patterns, with comments, in _reader/shell/command_wrappers.py.
_runs := `^([({]?(exec|nohup|nice|ionice|time)|[({]|then|else|do|--|(.*/)?(env|sudo|tini|dumb-init|catatonit)|\w+=.*|.*(;|&&|\|\|))$`

_wrapper := concat("", [
	`^[({]?(.*/)?(catatonit|chpst|chroot|chrt|doas|dumb-init|env|exec|gosu|ionice|nice|nohup|numactl|runuser|setpriv|setsid|stdbuf|su-exec|sudo`,
	`|taskset|time|timeout|tini)$`,
])

_before_user := `^((.*/)?(gosu|su-exec)|-[uU]|--(user|group|reuid|regid))$`

_argument := `^(-.*|\w+=.*|[0-9][\w.:,-]*)$`

_before_value := `^(-[^=]*|(.*/)?(chroot|gosu|su-exec))$`

_follows := `^(-|$|[;&|<>)]|[0-9]>|\$|\{\{)`

_separator := `.*(;|&&|\|\||\|)$`

_opens := `^(if|case|for|while|until)$`

_closes := `^(fi|esac|done);?$`

_condition := `.*(&&|\|\|)$`

# The variables that etcd gets: those of the container, and those from the words before it. Of an exported variable, such as those of the container,
# the last assignment counts. Its value is a placeholder if it depends on a condition or on another command, or if nothing here assigns it.
# Those in front of etcd win.
environment(command, of_container) := object.union_n([of_container, _exported(before, ends, of_container), _assigned(own)]) if {
	before := array.slice(command, 0, executable(command))
	ends := [behind | some position, word in before; _ends_command(word); behind := position + 1]
	own := array.slice(before, max(array.concat([0], ends)), count(before))
} else := of_container

_ends_command(word) if regex.match(_separator, word)

_ends_command(word) if word in {"then", "else", "do"}

_ends_command(word) if regex.match(_script_follows, word)

_assigned(words) := object.union_n([{found[1]: found[2]} |
	some word in words
	found := regex.find_all_string_submatch_n(`^([A-Za-z_]\w*)=((?s:.*))$`, word, 1)[0]
])

# Whatever depends on all words is computed once, because a script may have hundreds of commands.
_exported(before, ends, of_container) := {name: value |
	starts := array.concat([0], ends)
	commands := [[starts[number], array.slice(before, starts[number], end)] | some number, end in ends]
	last := object.union_n([assignment | some [start, words] in commands; some assignment in _assignments(start, words)])
	exports := object.union_n([export | some [start, words] in commands; some export in _exports(start, words)])
	conditions := _conditions(before)
	inherited := object.keys(of_container)
	some name in (object.keys(exports) | inherited)
	name in (object.keys(last) | (object.keys(exports) - inherited))
	value := _last_value(name, last, object.get(exports, name, 0), conditions)
}

_last_value(name, last, exported_at, conditions) := value if {
	[value, assigned_at] := last[name]
	not regex.match("`|[$][(]", regex.replace(value, `^[$][(][(][^()]*[)][)]$`, ""))
	every position in [assigned_at, exported_at] { _is_certain(position, conditions) }
} else := sprintf("${%s}", [name])

# {name: [value, position]} of what a command assigns, if it is `export`, or nothing but assignments.
_assignments(start, words) := [{name: [value, start + offset]} |
	first := _first_assignment(words)
	some offset, word in words
	offset >= first
	[_, name, sign, assigned] := regex.find_all_string_submatch_n(`^([A-Za-z_]\w*)(\+?)=((?s:.*))$`, trim_right(word, ";&|"), 1)[0]
	value := {"": assigned, "+": sprintf("${%s}", [name])}[sign]
]

# Assignments may follow a parenthesis, such as that of a pattern in `case`. A command in a value may have blanks.
_first_assignment(words) := min([offset | some offset, "export" in words]) if {
	"export" in words
} else := first if {
	first := max({0} | {behind | some offset, word in words; regex.match(`^([({]|[^=]*[)])$`, word); behind := offset + 1})
	command := array.slice(words, first, count(words))
	end := min({count(command)} | {behind | some offset, word in command; regex.match("`|[$][(]", word); behind := offset + 1})
	every word in array.slice(command, 0, end) { regex.match(`^([A-Za-z_]\w*\+?=|[;&|]+$)`, word) }
}

# {name: position} of each variable that a command exports.
_exports(start, words) := [{name: start + first} |
	first := min([offset | some offset, "export" in words])
	some word in array.slice(words, first + 1, count(words))
	[_, name] := regex.find_all_string_submatch_n(`^([A-Za-z_]\w*)(?:\+?=(?s:.*)|[;&|]*)$`, word, 1)[0]
]

# The positions of the words that make others conditional. Of several commands that depend on each other, etcd runs only if all others succeed,
# as in a && b && etcd. Otherwise all behind the first are `chained`.
_conditions(before) := {
	"opens": [position | some position, word in before; regex.match(_opens, word)],
	"closes": [position | some position, word in before; regex.match(_closes, word)],
	"chained": [position |
		_has_independent_commands(before)
		some position, word in before
		regex.match(_condition, word)
	],
}

_has_independent_commands(before) if {
	some word in before
	regex.match(_separator, word)
	not endswith(word, "&&")
}

_is_certain(position, conditions) if {
	count([other | some other in conditions.opens; other < position]) <= count([other | some other in conditions.closes; other < position])
	every other in conditions.chained { other >= position }
}

_end(command) := min({count(command)} | {position | some position, word in command; regex.match(`^([;&|<>]|[0-9]>)`, word)})

# A boolean flag takes no word after it: etcd exits on such a `stray` word. A `joined` word holds more than one flag with its value, such as
# --name a, or --name=a --data-dir=/b. The flags in the first form are those that the author meant, although etcd exits.
flags(command) := [object.union_n([entry, _stray(flag, given, next), joined]) |
	given_words := [part | some word in arguments(command); some part in _apart(word)]
	following := array.concat([word | some [word, _] in array.slice(given_words, 1, count(given_words))], ["-"])
	some position, [word, joined] in given_words
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

# [word, {joined} or {}] of each word in a word.
_apart(word) := [[part, marker] |
	some number, part in regex.split(`\s+`, trim_space(word))
	marker := {true: {"joined": word}, false: {}}[number == 0]
] if {
	regex.match(`^--?[A-Za-z][\w-]*\s+[^\s=].*\s--?[A-Za-z]`, word)
} else := [[word, _joined(word)]]

_joined(word) := {"joined": word} if {
	regex.match(`^--?[A-Za-z][\w-]*(\s+[^\s=]|=.*\s--[a-z][a-z-]+(=|\s|$))`, word)
} else := {}

_flag(word) := [name, given] if {
	[_, name, given] := regex.find_all_string_submatch_n(`^--?([A-Za-z][^=\s$(){}]*)(=.*)?$`, word, 1)[0]
} else := [name, sprintf("=%s", [value])] if {
	[_, name, value] := regex.find_all_string_submatch_n(`^--?([A-Za-z][\w-]*)\s+([^\s=].*)$`, word, 1)[0]
}

_value(_, given, _) := substring(given, 1, -1) if startswith(given, "=")

_value(flag, "", next) := "true" if _has_no_value(flag, next)

_value(flag, "", next) := next if not _has_no_value(flag, next)

_has_no_value(_, next) if _flag(next)

_has_no_value(_, "-")

_has_no_value(flag, _) if _is_boolean(flag)

_is_boolean(flag) if spelling.type_of_setting(spelling.setting(null, "flag", flag)) == "bool"
