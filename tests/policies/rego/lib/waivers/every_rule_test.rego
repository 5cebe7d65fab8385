package headroom_waiving_test

import data.headroom.testing
import data.headroom.testing.cases

_rules := {id | some id, _ in data.headroom.catalog; not startswith(id, "waiver/")}

# Each rule's finding can be waived, and is then listed as waived.
test_every_rule[id] if {
	some id in _rules
	[topic, name] := split(id, "/")
	waiver := {"rule": id, "group": "all", "reason": "a test", "expires": "2026-12-31"}
	bad := [case | some case in cases.resolved(data.rules[topic][name], "bad")]
	document := cases.document(bad[0])
	open := data.headroom.rules[topic][name] with input as document with data.waivers as [waiver] with time.now_ns as testing.noon
	count(object.get(open, "deny", set())) + count(object.get(open, "warn", set())) == 0
	said := data.headroom.waived.warn with input as document with data.waivers as [waiver] with time.now_ns as testing.noon
	count(said) > 0
	every finding in said {
		finding.code == id
		finding.waived.reason == "a test"
		startswith(finding.msg, sprintf("waived: %s: ", [id]))
	}
}
