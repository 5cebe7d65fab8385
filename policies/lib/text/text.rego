# METADATA
# title: Text for messages
# description: How messages show values and lists of hosts, and which word a misspelt one is closest to.
package headroom.text

import data.headroom.units

# Whole numbers with thousands separators, everything else as the user wrote it.
value(shown) := units.format_count(shown) if {
	is_number(shown)
	shown == floor(shown)
	shown >= 0
} else := sprintf("%v", [shown])

# At most four names, so that a finding fits on one line.
hosts(names) := concat(", ", sort(names)) if {
	count(names) <= 4
} else := sprintf("%s and %d more", [concat(", ", array.slice(sort(names), 0, 3)), count(names) - 3])

# The candidate that shares the most letter pairs with the word; undefined below a Sørensen-Dice coefficient of one half.
nearest(word, candidates) := nearest_above(word, candidates, 500)

# The same with another limit for the coefficient, in thousandths.
nearest_above(word, candidates, limit) := best[1] if {
	pairs := _letter_pairs(word)
	best := max({[score, candidate] |
		some candidate in candidates
		others := _letter_pairs(candidate)
		score := (2000 * count(pairs & others)) / (count(pairs) + count(others))
	})
	best[0] > limit
}

_letter_pairs(word) := {substring(word, position, 2) | some position in numbers.range(0, count(word) - 2)} if {
	count(word) > 1
} else := {word}

# Whether a template fills in a part of the text.
is_template(text) if regex.match(`\{\{|\$\{|<%`, text)

# The items of etcd's list of texts, which is a text with commas or a list. Undefined for anything else.
items(value) := [trim_space(item) | some item in split(value, ",")] if {
	is_string(value)
} else := [trim_space(item) | some item in value] if {
	is_array(value)
	every item in value { is_string(item) }
}

# The URLs that use plain HTTP and are not loopback addresses. Go accepts a scheme in capitals.
open_urls(value) := [url |
	some url in items(value)
	startswith(lower(url), "http://")
	not regex.match(`^(?i)http://(127\.|(ip6-)?localhost([:/]|$)|\[::1\])`, url)
]
