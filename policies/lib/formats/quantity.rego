# METADATA
# title: Quantities of Kubernetes
# description: |
#   Sizes such as 512Mi. In Kubernetes 1M is 1,000,000 bytes, 1Mi is 1,048,576, and m stands for thousandths. Fractions of a byte are rounded up
#   (Quantity.Value in k8s.io/apimachinery).
package headroom.formats.quantity

import data.headroom.arithmetic
import data.headroom.units

_exponents := {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

bytes(quantity) := _scaled(digits, exponent - count(fraction)) if {
	[_, whole, fraction, unit] := regex.find_all_string_submatch_n(`^\+?([0-9]{1,18})(?:\.([0-9]{0,9}))?([numkMGTPE]?)$`, quantity, 1)[0]
	digits := concat("", [whole, fraction])
	exponent := _exponents[unit]
} else := _scaled(digits, to_number(trim_left(exponent, "+")) - count(fraction)) if {
	[_, whole, fraction, exponent] := regex.find_all_string_submatch_n(`^\+?([0-9]{1,18})(?:\.([0-9]{0,9}))?[eE]([-+]?[1-9]?[0-9])$`, quantity, 1)[0]
	digits := concat("", [whole, fraction])
} else := units.parse_size(sprintf("%sB", [quantity])) if {
	regex.match(`^[0-9.]+[KMGTP]i$`, quantity)
} else := units.parse_size(quantity) if {
	is_number(quantity)
}

# Why Kubernetes refuses a size with the unit of another program, such as 2GB. Undefined for other texts, such as placeholders.
refusal(quantity) := sprintf("Kubernetes refuses %q; write %s%si instead", [quantity, number, upper(unit)]) if {
	not bytes(quantity)
	[_, number, unit] := regex.find_all_string_submatch_n(`^\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGTPkmgtp])[Ii]?[Bb]?\s*$`, quantity, 1)[0]
}

_scaled(digits, exponent) := _number(digits) * _power(exponent) if {
	exponent >= 0
} else := arithmetic.divide_up(_number(digits), _power(abs(exponent)))

# to_number() refuses leading zeros.
_number(digits) := to_number(trim_left(digits, "0")) if {
	trim_left(digits, "0") != ""
} else := 0

_power(exponent) := product([10 | some _ in array.slice(numbers.range(1, 200), 0, exponent)])
