package headroom_test.files.lines

import data.headroom.files
import data.headroom.files.lines

_input(document) := [{"path": "headroom-lint.json", "contents": {"headroom_lint": object.union({"files": []}, document)}}]

_index := {"compose.yml": {
	"words": {"snapshot-count": [8, 20], "ETCD_NAME": [3], "name": [2, 5, 30]},
	"scopes": {"etcd": [[4, 9]], "twice": [[1, 2], [5, 6]], "other": [[30, 40]]},
}}

cases := [
	["once", "any", "ETCD_NAME", 3],
	["in a map", "any", `etcd_environment["ETCD_NAME"]`, 3],
	["in a section", "any", "section.ETCD_NAME", 3],
	["within the host's part", "etcd", "--snapshot-count", 8],
	["without a part", "any", "--snapshot-count", null],
	["with two parts", "twice", "--snapshot-count", null],
	["outside of its part", "other", "--snapshot-count", null],
	["unknown", "etcd", "--wal-dir", null],
	["a sentence", "etcd", "kubespray's default ETCD_NAME", null],
]

test_line[name] if {
	some [name, host, about, expected] in cases
	found := [line | line := lines.line("compose.yml", host, about) with input as _input({"lines": _index})]
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
