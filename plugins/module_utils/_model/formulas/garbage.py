# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The garbage collector: what it leaves of the heap at its peak, with and without GOMEMLIMIT.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import permille, scale_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import put_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload


def marking_garbage(constants: Constants, workload: Workload, index_size: int) -> int:
    """Return the garbage that outlives a collection, because puts allocated it while the collector marked the index.

    Marking takes time for each key and for the rest of the heap, and each put during that time leaves garbage. Go limits it by starting a collection earlier.

    Unit: bytes
    Source: runtime/mgcpacer.go of Go; measured, see the constants
    """
    made = permille(
        (workload.keys + constants.marking_garbage_keys) * workload.puts_per_second, constants.marking_garbage
    )
    bound = permille(index_size, constants.marking_garbage_max)
    return min(max(made - constants.marking_garbage_free, 0), bound)


def marking_puts(constants: Constants, workload: Workload) -> int:
    """Return the copies of puts that outlive a collection, because they were allocated while the collector marked.

    Unit: bytes
    Source: runtime/mgcpacer.go of Go; measured, see the constants
    """
    made = permille(workload.puts_per_second * put_size(workload), constants.marking_puts)
    return min(made, constants.marking_puts_max)


def free_heap_peak(settings: Settings, live: int, spikes: int) -> int:
    """Return the peak of the heap without GOMEMLIMIT: it grows by GOGC percent of the live heap before a collection.

    Unit: bytes
    Source: https://go.dev/doc/gc-guide
    """
    return live + scale_up(live, settings.gogc, 100) + spikes


def smallest_heap(constants: Constants, live: int, spikes: int) -> int:
    """Return the smallest heap that GOMEMLIMIT can enforce.

    Unit: bytes
    Source: measured, see the constants
    Releases: since 3.5.8
    """
    return permille(live + spikes, constants.gomemlimit_floor)


def heap_peak(constants: Constants, settings: Settings, live: int, spikes: int) -> int:
    """Return the peak of the heap, which GOMEMLIMIT reduces as far as the live heap allows.

    Unit: bytes
    Source: https://go.dev/doc/gc-guide
    Releases: GOMEMLIMIT since 3.5.8
    """
    free = free_heap_peak(settings, live, spikes)
    return (
        free
        if settings.gomemlimit is None
        else min(free, max(smallest_heap(constants, live, spikes), settings.gomemlimit))
    )


def anon_peak(constants: Constants, settings: Settings, live: int, spikes: int, over_heap: int) -> int:
    """Return the peak of RssAnon; over_heap is the RssAnon for each 1000 bytes of heap. GOMEMLIMIT counts all of it.

    Unit: bytes
    Source: https://go.dev/doc/gc-guide; measured, see the constants
    Releases: GOMEMLIMIT since 3.5.8
    """
    free = permille(free_heap_peak(settings, live, spikes), over_heap) + constants.base_outside
    return (
        free
        if settings.gomemlimit is None
        else min(
            free,
            max(
                permille(smallest_heap(constants, live, spikes), over_heap) + constants.base_outside,
                settings.gomemlimit - constants.gomemlimit_untouched,
            ),
        )
    )
