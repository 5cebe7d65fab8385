# METADATA
# title: Lines of files
# description: |
#   Where a file mentions a setting, according to headroom-lint, since conftest's parsers provide no positions. Its index of a file is {words,
#   scopes}: word → its lines, and key or name → the ranges of lines that belong to it.
package headroom.files.lines

import data.headroom.files

# The only line of a setting, as its author spelled it, in the host's part of the file. Undefined without headroom-lint.
line(path, host, about) := _only(_of_host(files.reader.lines[path], host, _candidates(path, about)))

# The same for a file that certainly sets the host's variable, perhaps in the part of the host's group.
line_of_variable(path, host, variable) := number if {
	number := _only(_candidates(path, variable))
} else := line(path, host, variable)

_only([number]) := number

# The lines of the innermost name: `c` for a["b"]["c"], for --c, and for b.c of a config file; within a and b where the file has these.
_candidates(path, about) := [number |
	some number in index.words[names[count(names) - 1]]
	every section in array.slice(names, 0, count(names) - 1) {
		_is_within(number, object.get(index.scopes, section, []))
	}
] if {
	index := files.reader.lines[path]
	not contains(about, " ")
	names := regex.find_n(`[A-Za-z_][A-Za-z0-9_-]*`, about, -1)
}

_of_host(index, host, lines) := [number |
	some number in lines
	_is_within(number, object.get(index.scopes, host, object.get(index.scopes, _without_number(host), [])))
]

# Replicas are numbered, etcd-0.
_without_number(host) := regex.replace(host, `-[0-9]+$`, "")

# A file without such a part belongs as a whole to whatever it describes.
_is_within(_, [])

_is_within(number, ranges) if {
	some [first, last] in ranges
	number >= first
	number <= last
}
