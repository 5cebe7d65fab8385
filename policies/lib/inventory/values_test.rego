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
	wrapped := values.wrap_listed(
		{
			"plain": 1, "unsafe": {"__ansible_unsafe": "{{ x }}"}, "vault": {"__ansible_vault": "$ANSIBLE_VAULT"},
			"template": "{{ x }}", "inside": ["{{ x }}"], "secret": [{"__ansible_vault": "x"}], "list": [1],
		},
		"listed.json",
	)
	values.known(wrapped) == {"plain": 1, "unsafe": "{{ x }}", "list": [1]}
	values.unknown(wrapped) == {
		"vault": "encrypted", "template": "a template",
		"inside": "a template inside", "secret": "an encrypted value inside",
	}
}

test_merge if {
	definitions := {
		{"rank": 0, "path": "a.yml", "variables": {"v": 1, "w": 1, "x": 1}},
		{"rank": 1, "path": "b.yml", "variables": {"v": 2, "y": 1}},
		{"rank": 1, "path": "b.yml", "variables": {"v": 2, "y": 2}},
	}
	wrapped := values.merge(definitions)
	values.known(wrapped) == {"v": 2, "w": 1, "x": 1}
	values.unknown(wrapped) == {"y": "two values in one file, of which the later one counts"}
}
