package headroom_test.inventory.closure

import data.headroom.inventory.closure

cases := {
	"nothing": [{}, {}],
	"a tree": [{"a": set(), "b": {"a"}, "c": {"b"}}, {"a": {"a"}, "b": {"a", "b"}, "c": {"a", "b", "c"}}],
	"a cycle": [{"a": {"b"}, "b": {"a"}}, {"a": {"a", "b"}, "b": {"a", "b"}}],
	"two ways": [
		{"a": set(), "b": {"a"}, "c": {"a"}, "d": {"b", "c"}, "e": {"d"}},
		{"a": {"a"}, "b": {"a", "b"}, "c": {"a", "c"}, "d": {"a", "b", "c", "d"}, "e": {"a", "b", "c", "d", "e"}},
	],
}

test_above[name] if {
	some name, [parents, expected] in cases
	closure.ancestors(parents) == expected
}

# 2^60 paths, and longer than a few doublings.
test_ladder if {
	parents := object.union({[0, side]: set() | some side in ["a", "b"]}, {[step, side]: both |
		some step in numbers.range(1, 60)
		some side in ["a", "b"]
		both := {[step - 1, "a"], [step - 1, "b"]}
	})
	count(closure.ancestors(parents)[[60, "a"]]) == 121
}
