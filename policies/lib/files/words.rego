# METADATA
# title: Command lines
# description: |
#   The words of a command, and the flags of etcd among them. As the shell and Go's flag package have it, but for what both can do beyond
#   quotes and a shell's -c: substitution, and values that look like a flag.
package headroom.files.words

import data.headroom.vocabulary.spelling

# The words of a command that is a text or a list; an entrypoint and a command are one after the other.
split_words(parts) := [word |
	some part in parts
	some quoted in regex.find_n(`(?:[^\s"']|"[^"]*"|'[^']*')+`, _text(part), -1)
	word := replace(replace(quoted, `"`, ""), "'", "")
]

_text(part) := part if {
	is_string(part)
} else := concat(" ", [sprintf("%v", [item]) | some item in part]) if {
	is_array(part)
} else := ""

# The words after `etcd` itself, up to where a shell would begin another command; all words where the first is a flag already.
# Undefined where the command is another one.
arguments(words) := array.slice(rest, 0, _end(rest)) if {
	rest := array.slice(words, executable(words) + 1, count(words))
} else := words if {
	startswith(words[0], "-")
}

# Where etcd is called, at the beginning or behind a shell or an init; undefined where it is not. A folder may be called etcd too.
executable(words) := min({position |
	some position, word in words
	regex.match(`^(.*/)?etcd$`, word)
	not startswith(word, "-")
	_begins(words, position)
})

_begins(_, 0)

_begins(words, position) if regex.match(`^(-c|--|exec|nice|ionice|.*(;|&&|\|\|)|(.*/)?(tini|dumb-init|sudo))$`, words[position - 1])

_end(words) := min({count(words)} | {position | some position, word in words; regex.match(`^([;&|<>]|[0-9]>)`, word)})

# The flags among the words of a command, as they reach etcd. A flag without a value is a boolean, which takes no word after it.
flags(words) := [{"name": sprintf("--%s", [flag]), "form": "flag", "spelling": flag, "value": _value(flag, given, next)} |
	given_words := arguments(words)
	following := array.concat(array.slice(given_words, 1, count(given_words)), ["-"])
	some position, word in given_words
	[flag, given] := _flag(word)
	next := following[position]
]

_flag(word) := [name, given] if {
	[_, name, given] := regex.find_all_string_submatch_n(`^--?([A-Za-z][A-Za-z0-9-]*)(=.*)?$`, word, 1)[0]
}

_value(_, given, _) := substring(given, 1, -1) if startswith(given, "=")

_value(flag, "", next) := "true" if _stands_alone(flag, next)

_value(flag, "", next) := next if not _stands_alone(flag, next)

_stands_alone(_, next) if _flag(next)

_stands_alone(_, "-")

_stands_alone(flag, _) if spelling.kind_of(spelling.setting(null, "flag", flag)) == "bool"
