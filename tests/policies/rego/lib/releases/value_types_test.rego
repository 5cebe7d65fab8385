package headroom_test.releases.value_types

import data.headroom.releases.value_types

typed := [
	["text", "string", true],
	[1, "string", false],
	[["a"], "strings", true],
	[["a", 1], "strings", false],
	["a", "strings", false],
	[true, "bool", true],
	["true", "bool", false],
	[1, "int", true],
	[-1, "int", true],
	[1.5, "int", false],
	["8G", "int", false],
	[-1, "uint", false],
	[1, "uint", true],
	[10, "duration", true],
	["10s", "duration", false],
]

test_has_type[note] if {
	some [value, kind, expected] in typed
	note := sprintf("%v as %s", [value, kind])
	{expected} == {true | value_types.has_type(value, kind)} | {false | not value_types.has_type(value, kind)}
}

test_meant if {
	value_types.meant("8G", "int") == 8589934592
	value_types.meant("8Gi", "int") == 8589934592
	value_types.meant("10s", "duration") == 10000000000
	not value_types.meant("big", "int")
	not value_types.meant(5, "string")
}

test_describe if {
	value_types.describe("key", "duration") == "a whole number of nanoseconds"
	value_types.describe("flag", "duration") == "a duration with its unit, such as 10s"
}
