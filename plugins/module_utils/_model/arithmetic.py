# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The integer operations that the formulas are written in.

Private to the collection. Pure. policies/lib/arithmetic has the same functions under the same names in Rego.
"""

from __future__ import annotations

from bisect import bisect_left

from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import GO_PAGE, SIZE_CLASSES


def divide_up(number: int, divisor: int) -> int:
    """Return the quotient, rounded up."""
    return -(-number // divisor)


def scale_up(number: int, numerator: int, denominator: int) -> int:
    """Return number × numerator / denominator, rounded up."""
    return divide_up(number * numerator, denominator)


def permille(number: int, factor: int) -> int:
    """Return number × factor / 1000, rounded up."""
    return divide_up(number * factor, 1000)


def size_class(size: int) -> int:
    """Return the bytes that Go's allocator takes for an object: its size class, or whole pages for a large one."""
    if size > SIZE_CLASSES[-1]:
        return divide_up(size, GO_PAGE) * GO_PAGE
    return SIZE_CLASSES[bisect_left(SIZE_CLASSES, size)]
