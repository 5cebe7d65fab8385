# METADATA
# title: Quantities of Kubernetes
# description: Sizes such as 512Mi. In Kubernetes 1M is 1,000,000 bytes and 1Mi is 1,048,576.
package headroom.formats.quantity

import data.headroom.units

_decimal := {"k": 1000, "M": 1000000, "G": 1000000000, "T": 1000000000000}

bytes(quantity) := to_number(number) * _decimal[unit] if {
	[_, number, unit] := regex.find_all_string_submatch_n(`^([0-9]{1,9})([kMGT])$`, quantity, 1)[0]
} else := units.parse_size(sprintf("%sB", [quantity])) if {
	regex.match(`^[0-9.]+[KMGT]i$`, quantity)
} else := units.parse_size(quantity)
