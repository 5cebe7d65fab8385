package headroom_test.files.lines

import data.headroom.files
import data.headroom.files.lines

_input(document) := [{"path": "headroom-lint.json", "contents": {"headroom_lint": object.union({"files": []}, document)}}]

_index := {"compose.yml": {
	"words": {"snapshot-count": [8, 20], "ETCD_NAME": [3], "name": [2, 5, 30], "auto-tls": [21, 26], "peer": [7, 25]},
	"scopes": {"etcd": [[4, 9]], "twice": [[1, 2], [5, 6]], "other": [[30, 40]], "merged": [[10, 12], [20, 21]], "client": [[20, 22]], "peer": [[25, 27]]},
}}

cases := [
	["once", "any", "ETCD_NAME", 3],
	["in a map", "any", `etcd_environment["ETCD_NAME"]`, 3],
	["in a section", "any", "section.ETCD_NAME", 3],
	["within the host's part", "etcd", "--snapshot-count", 8],
	["without a part", "any", "--snapshot-count", null],
	["with two parts", "twice", "--snapshot-count", null],
	["within one of two parts", "merged", "--snapshot-count", 20],
	["once, in another's part", "etcd", "ETCD_NAME", null],
	["twice in its part", "twice", "name", null],
	["in its section", "any", "peer.auto-tls", 26],
	["in the section of a variable", "any", `etcd_extra_config["client"]["auto-tls"]`, 21],
	["in its section, in another's part", "etcd", "peer.auto-tls", null],
	["outside of its part", "other", "--snapshot-count", null],
	["unknown", "etcd", "--wal-dir", null],
	["a sentence", "etcd", "kubespray's default ETCD_NAME", null],
]

test_line[name] if {
	some [name, host, about, expected] in cases
	found := [line | line := lines.line("compose.yml", host, about) with input as _input({"lines": _index})]
	found == [expected | expected != null]
}

# A group's variable lies outside of the parts of its hosts.
test_line_of_variable[name] if {
	some [name, host, variable, expected] in [
		["once", "etcd", "ETCD_NAME", 3],
		["in the host's part", "etcd", "snapshot-count", 8],
		["in several places", "other", "snapshot-count", null],
	]
	found := [line | line := lines.line_of_variable("compose.yml", host, variable) with input as _input({"lines": _index})]
	found == [expected | expected != null]
}

test_no_lines_without_reader if {
	not lines.line("compose.yml", "etcd", "ETCD_NAME") with input as [{"path": "compose.yml", "contents": {}}]
}

test_files_of_the_reader if {
	entry := {"path": "a.yml", "contents": {"a": 1}}
	files.entries == [entry] with input as _input({"files": [entry]})
	files.reader == {} with input as [entry]
}
