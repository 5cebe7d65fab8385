package headroom_test.inventory.values

import data.headroom.inventory.values

doubted := {
	"$ANSIBLE_VAULT;1.1;AES256": "encrypted",
	"a {{ b }}": "a template",
	"{% if %}": "a template",
	"12:30": "a time, which YAML turns into a number unless it is quoted",
	"1:30:20.5": "a time, which YAML turns into a number unless it is quoted",
	"2024-01-01 10:00:00": "a time, which YAML rewrites unless it is quoted",
	9007199254740992: "a number of 2^53 or more, which loses its last digits here",
	-9007199254740993: "a number of 2^53 or more, which loses its last digits here",
	["{{ x }}"]: "a template inside",
	{"a": "$ANSIBLE_VAULT;1.1"}: "an encrypted value inside",
	{"a": 12345678901234567}: "a large number inside, which may lose its last digits here",
	["12:30"]: "a time inside, which YAML rewrites unless it is quoted",
	["2024-01-01\t10:00:00"]: "a time inside, which YAML rewrites unless it is quoted",
	["\u0000map", {}]: "a NUL character inside",
	[{"a": "2024-01-01T10:00:00"}]: "a time inside, which YAML rewrites unless it is quoted",
}

test_doubt[value] if {
	some value, reason in doubted
	values.doubt(value) == reason
}

sure := [1, -1, 0.5, true, null, "", "text", "02:30", "2024-01-01", "10.0.0.1:2379", "3.7.3", ["a", 1], {"a": {"b": [1, "11:22:33:44:55:66"]}}]

test_sure[value] if {
	some value in sure
	not values.doubt(value)
}

test_listed if {
	found := values.listed({
		"plain": 1, "unsafe": {"__ansible_unsafe": "{{ x }}"}, "vault": {"__ansible_vault": "$ANSIBLE_VAULT"},
		"template": "{{ x }}", "inside": ["{{ x }}"], "secret": [{"__ansible_vault": "x"}], "list": [1],
	})
	found.known == {"plain": 1, "unsafe": "{{ x }}", "list": [1]}
	found.unknown == {
		"vault": "encrypted", "template": "a template",
		"inside": "a template inside", "secret": "an encrypted value inside",
	}
}

# is_plain() never misses a value that doubt() finds.
test_plain[value] if {
	some value, _ in doubted
	not values.is_plain({"a": value})
}

# A false alarm: is_plain() takes a quoted "02:30" for a time.
surely := [value | some value in sure; value != "02:30"]

test_plain_sure[value] if {
	some value in surely
	values.is_plain({"a": value})
}

test_merge if {
	found := values.resolve(values.merge({
		{"rank": 0, "plain": true, "variables": {"v": 1, "w": 1, "x": {"a": 1}}},
		{"rank": 1, "plain": true, "variables": {"v": 2, "y": 1, "x": {"b": 2}}},
		{"rank": 1, "plain": true, "variables": {"v": 2, "y": 2}},
	}))
	found.known == {"v": 2, "w": 1, "x": {"b": 2}}
	found.unknown == {"y": "two values in one file; the later one counts"}
}

# Maps are replaced, never merged, also by lists and texts.
test_unite if {
	layers := [values.layer(variables, false) | some variables in [
		{"a": {"x": 1}, "b": {"x": 1}, "c": 1, "d": "{{ x }}", "e": 1},
		{"a": {"y": 2}, "b": [1], "c": {"x": 1}, "d": 1, "e": "{{ x }}"},
	]]
	values.resolve(values.overlay(layers)) == {
		"known": {"a": {"y": 2}, "b": [1], "c": {"x": 1}, "d": 1},
		"unknown": {"e": "a template"},
	}
	values.resolve(values.overlay([])) == {"known": {}, "unknown": {}}
}
