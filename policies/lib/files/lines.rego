# METADATA
# title: Lines of files
# description: |
#   Where a file mentions a setting, according to headroom-lint, since conftest's parsers provide no positions. Its index of a file is {words,
#   scopes}: word → its lines, and key or name → the ranges of lines that belong to it.
package headroom.files.lines

import data.headroom.files

# The line of a setting as its author spelled it. Undefined without headroom-lint, and if several lines may be meant.
line(path, host, about) := number if {
	index := files.reader.lines[path]
	lines := index.words[_word(about)]
	number := _line(lines, object.get(index.scopes, host, object.get(index.scopes, _without_number(host), [])))
}

# Replicas are numbered, etcd-0.
_without_number(host) := regex.replace(host, `-[0-9]+$`, "")

_line(lines, _) := lines[0] if count(lines) == 1

# The host's own part of the file.
_line(lines, [[first, last]]) := [number | some number in lines; number >= first; number <= last][0] if count(lines) > 1

# The innermost name: `c` for a["b"]["c"], for --c, and for b.c of a config file.
_word(about) := regex.find_n(`[A-Za-z_][A-Za-z0-9_-]*`, about, -1)[count(regex.find_n(`[A-Za-z_][A-Za-z0-9_-]*`, about, -1)) - 1] if {
	not contains(about, " ")
}
