# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A start: the replayed raft log, the requests that wait, and the garbage of reading the database.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille, scale_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.backend import put_in_batch
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.clients import requests
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.live_heap import (
    heap_live,
    waiting_revisions,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import Components, Database
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import (
    index,
    put_size,
    raft_entry,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload


def restart_write_batch(constants: Constants, workload: Workload, db: Database, batch: int) -> int:
    """Return the write batch while the replayed log is in memory, a short time that ends with the first applied entries.

    Unit: bytes
    Source: server/etcdserver/server.go, memorySnapshotCount; measured, see the constants
    """
    first = permille(constants.restart_puts * put_in_batch(constants, workload, db), constants.write_batch_copies)
    return min(batch, max(first, constants.restart_batch))


def restart_requests(constants: Constants, members: int, waiting: int) -> int:
    """Return the waiting requests at the start of a single member; several members first elect a leader.

    Unit: bytes
    Source: measured, see the constants
    """
    return 0 if members > 1 else min(permille(waiting, constants.restart_requests), constants.restart_requests_max)


def restart_heap_live(
    constants: Constants, workload: Workload, settings: Settings, members: int, db: Database, parts: Components
) -> int:
    """Return the live heap right after a restart, with the log since the last disk snapshot replayed into memory.

    etcd compacts for the first time when its retention has passed. By then the replayed log is compacted, so no puts wait for a compaction.

    Unit: bytes
    Source: server/etcdserver/bootstrap.go
    """
    steady = heap_live(parts) - parts.raft_log - parts.write_batch - parts.requests
    log = settings.snapshot_count * raft_entry(constants, workload)
    batch = restart_write_batch(constants, workload, db, parts.write_batch)
    waiting = requests(constants, workload, members, 0)
    return steady + log + batch + waiting + restart_requests(constants, members, waiting)


def restore_garbage(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return the garbage of a start, which reads every revision: what it allocates while the collector marks counts as live.

    Unit: bytes
    Source: server/storage/mvcc/kvstore.go, restore; runtime/mgcpacer.go of Go; measured, see the constants
    """
    read = permille((workload.keys + db.history) * put_size(workload), constants.restore_garbage)
    marking = constants.restore_garbage_floor + workload.value_size * constants.restore_garbage_values
    most = min(read, marking, constants.restore_garbage_max)
    share = min(max(settings.gogc, constants.restore_garbage_gogc), divide_up(settings.gogc + 100, 2))
    return scale_up(most, share, 100)


def restore_queue(constants: Constants, workload: Workload, db: Database) -> int:
    """Return the revisions that wait to be indexed, if keys were written in random order, which takes longer to index, as do long keys.

    A cache holds as many keys as a chunk has revisions, and those beyond it take longer to find. Large revisions are read more slowly, so fewer of
    them wait.

    Unit: bytes
    Source: server/storage/mvcc/kvstore.go, restoreIntoIndex and its kiCache; measured, see the constants
    """
    size = min(put_size(workload) + constants.restore_pending, constants.restore_queue_size)
    waiting = waiting_revisions(constants, workload.keys + db.history)
    uncached = permille(max(workload.keys - constants.restore_chunk, 0), constants.restore_uncached)
    queue = permille(waiting * size, constants.restore_queue + workload.key_size * constants.restore_queue_key)
    return scale_up(queue, min(uncached, workload.keys), workload.keys)


def restore_indexing(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return the heap at the end of a start's reading, when the index is complete and the last revisions still wait.

    Unit: bytes
    Source: server/storage/mvcc/kvstore.go, restore; measured, see the constants
    """
    live = index(constants, workload, db.history) + restore_queue(constants, workload, db)
    return scale_up(live, settings.gogc + 100, 100)


def restore_anon_peak(constants: Constants, workload: Workload, settings: Settings, db: Database, live: int) -> int:
    """Return the peak of RssAnon while a start reads the database, before clients connect. GOMEMLIMIT presses it down.

    Unit: bytes
    Source: measured, see the constants
    Releases: GOMEMLIMIT since 3.5.8
    """
    log = settings.snapshot_count * raft_entry(constants, workload)
    read = max(restore_garbage(constants, workload, settings, db), restore_indexing(constants, workload, settings, db))
    heap = 2 * constants.base_heap + log + read
    free = permille(heap, constants.restart_anon_over_heap) + constants.base_outside
    return (
        free
        if settings.gomemlimit is None
        else min(free, max(permille(live, constants.gomemlimit_floor), settings.gomemlimit))
    )
