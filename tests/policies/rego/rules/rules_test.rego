# METADATA
# title: Runs the tables of cases
# description: |
#   Each rule has a table beside this file, <topic>/<rule>.yml: inventories that are bad, with the texts of the findings, and
#   inventories that are good. docs/policies/adding.md describes the format.
package headroom_test.rules

import data.headroom.testing
import data.headroom.testing.cases

# Evaluated by opa eval, see tests/policies/coverage.py: opa test takes ten times as long.
test_bad if {
	failed := {name |
		some name, case in _cases("bad")
		not _finds(case)
	}
	print("failed:", failed)
	count(failed) == 0
}

test_good if {
	failed := {name |
		some name, case in _cases("good")
		not _clean(case)
	}
	print("failed:", failed)
	count(failed) == 0
}

# Without this, a folder that opa was not given would pass in silence.
test_every_rule_has_cases if {
	every id, _ in data.headroom.catalog {
		[topic, rule] := split(id, "/")
		every side in ["bad", "good"] {
			count(data.rules[topic][rule][side]) > 0
		}
	}
}

_finds(case) if {
	found := _findings(case)
	_compared(found, case.finds) == {text | some text in case.finds}
	_sets_as_wanted(found, case)
}

# The values that the findings suggest.
_sets_as_wanted(found, case) if {finding.fix.set | some finding in found} == {values | some values in case.sets}

_sets_as_wanted(_, case) if not case.sets

_clean(case) if count(_findings(case)) == 0

# All cases of one side, by "<topic>/<rule>: <note>".
_cases(side) := {sprintf("%s/%s: %s", [topic, rule, note]): object.union(case, {"topic": topic, "rule": rule}) |
	some topic, tables in data.rules
	some rule, table in tables
	some note, case in cases.resolved(table, side)
}

# A rule that denies may also warn, of values that it assumes.
_findings(case) := found.deny | found.warn if {
	rule := data.headroom.rules[case.topic][case.rule] with input as cases.document(case) with time.now_ns as testing.noon
	found := object.union({"deny": set(), "warn": set()}, object.filter(rule, {"deny", "warn"}))
}

# Figures of the memory model change when it is calibrated: a text with SIZE in it matches any size.
_compared(found, wanted) := testing.any_size(found) if {
	contains(concat("", wanted), "SIZE")
} else := testing.texts(found)
