# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A defragmentation.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import permille
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.garbage import smallest_heap
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import Database, Required
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings


def defrag_batch(constants: Constants, db: Database) -> int:
    """Return the bytes that one transaction of a defragmentation copies.

    Unit: bytes
    Source: server/storage/backend/backend.go, defragdb
    """
    return min(db.in_use, constants.defrag_chunk * db.revision)


def defragmentation(constants: Constants, db: Database) -> int:
    """Return the memory of a defragmentation in addition to the live heap, garbage included.

    Unit: bytes
    Source: measured, see the constants
    """
    return permille(defrag_batch(constants, db), constants.defrag_copies)


def defrag_anon_peak(constants: Constants, settings: Settings, needed: Required, low: int, high: int) -> int:
    """Return the peak of RssAnon during a defragmentation, which blocks writes; low and high bound its copies.

    GOMEMLIMIT can save only the garbage among the copies, which is the difference between the high and the low end.

    Unit: bytes
    Source: server/storage/backend/backend.go, defragdb
    Releases: GOMEMLIMIT since 3.5.8
    """
    free = needed.heap_live + high
    smallest = smallest_heap(constants, needed.heap_live, low)
    return (
        max(needed.rss_anon_peak, free)
        if settings.gomemlimit is None
        else max(needed.rss_anon_peak, min(free, max(settings.gomemlimit, smallest)))
    )
