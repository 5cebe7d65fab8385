package headroom_test.formats.command_line

import data.headroom.formats.command_line

commands := [
	[["etcd --name a"], ["etcd", "--name", "a"]],
	[["/usr/local/bin/etcd\n  -name 'a b' --x=\"y z\""], ["/usr/local/bin/etcd", "-name", "a b", "--x=y z"]],
	[[["etcd", "--name", "a"]], ["etcd", "--name", "a"]],
	[[null, ["sh", "-c", "etcd --name a"]], ["sh", "-c", "etcd", "--name", "a"]],
	[["/bin/sh -c '\n  etcd &\n  echo \"a b\"'\n"], ["/bin/sh", "-c", ";", "etcd", "&", ";", "echo", "a b"]],
	[["bash -ec \"etcd --name a\""], ["bash", "-ec", "etcd", "--name", "a"]],
	[["bash -ecx 'etcd --name a\n'"], ["bash", "-ecx", "etcd", "--name", "a", ";"]],
	[[["sh", "-exc", "etcd --name a\netcd --name b"]], ["sh", "-exc", "etcd", "--name", "a", ";", "etcd", "--name", "b"]],
	[[["sh", "-ecx", "etcd --name a\netcd --name b"]], ["sh", "-ecx", "etcd", "--name", "a", ";", "etcd", "--name", "b"]],
	[["sh -c 'x; etcd --name a&& y;; z \\; \"a; b\"'"], ["sh", "-c", "x", ";", "etcd", "--name", "a", "&&", "y", ";;", "z", "\\;", "a ; b"]],
	[["", 5], []],
	[[["etcd", "--x=https://a:1, http://b:1", "--y=\"5\"", "--z 5", ""]], ["etcd", "--x=https://a:1, http://b:1", "--y=\"5\"", "--z 5"]],
	[["/bin/sh -c", ["etcd --y=\"5\"", "--z '6'"]], ["/bin/sh", "-c", "etcd", "--y=5", "--z '6'"]],
	[[["sh", "-c"], ["etcd --y=\"5\""]], ["sh", "-c", "etcd", "--y=5"]],
	[[["etcd --name a"]], ["etcd", "--name", "a"]],
	[[["--name a", "--x"]], ["--name a", "--x"]],
	[[["etcd", "--x", "http://a:{{ .Values.port }}"], "{{ .Values.a }}-b c"], ["etcd", "--x", "http://a:{{ .Values.port }}", "{{ .Values.a }}-b", "c"]],
	[
		[["sh", "-ec"], ["if x\nexec etcd --name a \\\n  --x\nsleep 5"]],
		["sh", "-ec", "if", "x", ";", "exec", "etcd", "--name", "a", "--x", ";", "sleep", "5"],
	],
]

test_split_words[note] if {
	some [parts, expected] in commands
	note := json.marshal(parts)
	command_line.words(parts) == expected
}

calls := [
	[["etcd", "--name", "a"], ["--name", "a"]],
	[["sh", "-c", "exec", "etcd", "--name", "a", "&&", "sleep", "5"], ["--name", "a"]],
	[["sh", "-ecx", "etcd", "--name", "a", ";", "else", ";", "exec", "etcd", "--name", "b"], ["--name", "a"]],
	[["/bin/sh", "-ec", "mkdir /x;", "/usr/local/bin/etcd", "-x", "2>&1"], ["-x"]],
	[["sh", "-ec", "etcd", "--name", "a", ";", "etcd", "--force-new-cluster"], ["--name", "a"]],
	[["sh", "-ec", "etcd", "--force-new-cluster", ";", "etcd", "--name", "a"], ["--name", "a"]],
	[["sh", "-ec", "etcd", "--force-new-cluster"], ["--force-new-cluster"]],
	[["--name", "a"], ["--name", "a"]],
	[["etcdctl", "put", "etcd"], null],
	[["backup", "--dir", "/var/lib/etcd"], null],
	[["etcd", "grpc-proxy", "start", "--endpoints=http://a:2379"], null],
	[[], null],
	[["sh", "-c", "GOMAXPROCS=2", "etcd", "--name", "a"], ["--name", "a"]],
	[["env", "A=b", "etcd", "--name", "a"], ["--name", "a"]],
	[["sh", "-c", "if", "x;", "then", "etcd", "--name", "a", ";", "fi"], ["--name", "a"]],
	[["sh", "-c", "(exec", "etcd", "--name", "a)"], ["--name", "a"]],
	[["sh", "-c", "(", "etcd", "--name", "a)", "&", "wait"], ["--name", "a"]],
	[["sh", "-c", "(exec", "etcd"], []],
	[["timeout", "3600", "etcd", "--name", "a"], ["--name", "a"]],
	[["timeout", "-s", "KILL", "1h", "/bin/etcd"], []],
	[["su-exec", "etcd:etcd", "etcd", "--name", "a"], ["--name", "a"]],
	[["exec", "gosu", "etcd", "nice", "-n", "5", "etcd", "--name", "a"], ["--name", "a"]],
	[["gosu", "etcd", "etcd", "--name", "a"], ["--name", "a"]],
	[["sudo", "-u", "etcd", "-E", "etcd", "--name", "a"], ["--name", "a"]],
	[["timeout", "5", "backup", "etcd"], null],
	[["sudo", "chown", "etcd", "/var/lib/etcd"], null],
]

test_arguments[note] if {
	some [given, expected] in calls
	note := json.marshal(given)
	{expected} == {found | found := command_line.arguments(given)} | {null | not command_line.arguments(given)}
}

test_flags if {
	given := ["--name=a=b", "-max-wals", "9", "--client-cert-auth", "stray", "--force-new-cluster", "--quota-backend-bytes", "-1", "--last"]
	{[entry.spelling, entry.value] | some entry in command_line.flags(given)} == {
		["name", "a=b"],
		["max-wals", "9"],
		["client-cert-auth", "true"],
		["force-new-cluster", "true"],
		["quota-backend-bytes", "-1"],
		["last", "true"],
	}
	{[entry.spelling, entry.stray] | some entry in command_line.flags(given)} == {["client-cert-auth", "stray"]}
	{entry.name | some entry in command_line.flags(["-max-wals=9"])} == {"--max-wals"}

	# A word with blanks is one argument.
	joined := ["etcd", "--data-dir /a", "--name=a --max-wals=5", "--listen-client-urls=https://a:1, https://b:1", "--x -y"]
	{[entry.spelling, entry.value, object.get(entry, "joined", "")] | some entry in command_line.flags(joined)} == {
		["data-dir", "/a", "--data-dir /a"],
		["name", "a --max-wals=5", "--name=a --max-wals=5"],
		["listen-client-urls", "https://a:1, https://b:1", ""],
		["x", "-y", "--x -y"],
	}

	# etcd takes all up to the equals sign for the name.
	{entry.name | some entry in command_line.flags(["etcd", "--cert-file/etc/a.pem", "--${X}"])} == {"--cert-file/etc/a.pem"}
}

variables := [
	[["etcd"], {}],
	[["backup", "A=b"], {}],
	[["sh", "-c", "GOGC=50", "ETCD_NAME=a=b", "etcd", "ETCD_NAME=c"], {"GOGC": "50", "ETCD_NAME": "a=b"}],
	[["sh", "-c", "A=b;", "export", "B=c", "C;", "exec", "etcd"], {"B": "c", "C": "${C}"}],
	[["sh", "-c", "A=b", ";", "C=x", "D=y", ";", "export", "A", "D;", "etcd"], {"A": "b", "D": "y"}],
	[["sh", "-c", "A=b;", "A=c;", "export", "A;", "etcd"], {"A": "c"}],
	[["sh", "-c", "export", "A;", "A=b", ";", "etcd"], {"A": "b"}],
	[["sh", "-c", "A=b", "x", ";", "export", "A", ";", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "A=b", ";", "A+=c", ";", "export", "A", ";", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "A=$(x", "--data-dir=/y", "z)", ";", "export", "A", ";", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "A=`x`", ";", "B=$((2*3))", ";", "export", "A", "B", ";", "etcd"], {"A": "${A}", "B": "$((2*3))"}],
	[["sh", "-c", "A=b", ";", "if", "x;", "then", "A=c", ";", "fi;", "export", "A", ";", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "A=b", ";", "case", "x", "in", "y)", "A=c", ";;", "esac;", "export", "A", ";", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "A=b", ";", "if", "x;", "then", "export", "A", ";", "fi;", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "{", "A=b", ";", "}", ";", "export", "A", ";", "etcd"], {"A": "b"}],
	[["sh", "-c", "export", "B=c", ";", "B=d", "etcd"], {"B": "d"}],
	[["sh", "-c", "A=b", ";", "etcd"], {}],
	[["sh", "-c", "export", "A=b", "&&", "cd", "/", "&&", "etcd"], {"A": "b"}],
	[["sh", "-c", "cd", "/", "&&", "export", "A=b", "&&", "etcd"], {"A": "b"}],
	[["sh", "-c", "x", "&&", "export", "A=b;", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "x", "||", "export", "A=b", "&&", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "if", "x;", "then", "export", "A=b;", "fi;", "etcd"], {"A": "${A}"}],
	[["sh", "-c", "if", "x;", "then", "y;", "fi;", "export", "A=b;", "etcd"], {"A": "b"}],
	[["sh", "-c", "if", "x;", "then", "A=b", "etcd", ";", "fi"], {"A": "b"}],
]

test_environment[note] if {
	some [given, expected] in variables
	note := json.marshal(given)
	command_line.environment(given, {}) == expected
}

# Those of the container are exported.
test_environment_of_a_container if {
	of_container := {"A": "a", "B": "b", "C": "c", "D": "d"}
	script := ["sh", "-c", "B=x", ";", "export", "A", ";", "if", "y;", "then", "C=z", ";", "fi;", "D=w", "etcd"]
	command_line.environment(script, of_container) == {"A": "a", "B": "x", "C": "${C}", "D": "w"}
	command_line.environment(["etcd"], of_container) == of_container
	command_line.environment([], of_container) == of_container
}
