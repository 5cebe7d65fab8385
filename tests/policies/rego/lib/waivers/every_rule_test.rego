package headroom_waiving_test

import data.headroom.testing
import data.headroom.testing.cases

_rules := {id | some id, _ in data.headroom.catalog; not startswith(id, "waiver/")}

# Each rule's finding can be waived, and is then listed as waived. Evaluated as rules_test.rego is.
test_every_rule if {
	failed := {id | some id in _rules; not _is_waived(id)}
	print("failed:", failed)
	count(failed) == 0
}

_is_waived(id) if {
	[topic, name] := split(id, "/")
	waiver := {"rule": id, "group": "all", "reason": "a test", "expires": "2026-12-31"}
	bad := [case | some case in cases.resolved(data.rules[topic][name], "bad")]
	found := _found(topic, name) with input as cases.document(bad[0]) with data.waivers as [waiver] with time.now_ns as testing.noon
	count(object.get(found.open, "deny", set())) + count(object.get(found.open, "warn", set())) == 0
	count(found.waived) > 0
	every finding in found.waived {
		finding.code == id
		finding.waived.reason == "a test"
		startswith(finding.msg, sprintf("waived: %s: ", [id]))
	}
}

# Both in one query, so that OPA resolves the inventory once.
_found(topic, name) := {"open": data.headroom.rules[topic][name], "waived": data.headroom.waived.warn}
