# METADATA
# title: Integer arithmetic
# description: |
#   The operations that the formulas are written in, with the names of plugins/module_utils/_model/arithmetic.py. All of them are exact: a
#   product beyond 2^63, where OPA's numbers stop being integers, is never formed.
package headroom.arithmetic

import data.headroom.model

# The quotient, rounded down; exact, unlike floor(a / b).
divide_down(number, divisor) := (number - (number % divisor)) / divisor

# The quotient, rounded up.
divide_up(number, divisor) := (above - (above % divisor)) / divisor if above := (number + divisor) - 1

# number × factor / 1000, rounded up.
permille(number, factor) := scale_up(number, factor, 1000)

# number × numerator / denominator, rounded up.
scale_up(number, numerator, denominator) := whole + ((above - (above % denominator)) / denominator) if {
	remainder := number % denominator
	whole := ((number - remainder) / denominator) * numerator
	above := ((remainder * numerator) + denominator) - 1
}

# The bytes that Go's allocator takes for an object: its size class, or whole pages for a large one.
size_class(size) := divide_up(size, model.go_page) * model.go_page if size > _largest_class

size_class(size) := min({class | some class in model.size_classes; class >= size}) if size <= _largest_class

_largest_class := max(model.size_classes)
