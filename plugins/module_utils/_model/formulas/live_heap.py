# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The live heap: all components of a member, those of a start included.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.backend import (
    freelist,
    largest_commit,
    rewritten_pages,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.clients import (
    connections,
    requests,
    watch_events,
    watches,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import Components, Database
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import index, raft_entry
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload


def waiting_revisions(constants: Constants, revisions: int) -> int:
    """Return how many revisions a start has read but not yet indexed.

    The first chunk is indexed before the garbage collector runs. Of later chunks as many wait as were read, at most one chunk.

    Unit: revisions
    Source: server/storage/mvcc/kvstore.go, restoreIntoIndex
    """
    further = min(max(revisions - constants.restore_chunk, 0), constants.restore_further)
    return divide_up(constants.restore_chunk * further, constants.restore_further)


def restore_waiting(constants: Constants, workload: Workload, revisions: int) -> int:
    """Return the revisions that wait to be indexed, if each key was written again in the same order.

    Unit: bytes
    Source: server/storage/mvcc/kvstore.go, restoreIntoIndex; measured, see the constants
    """
    value = min(permille(workload.value_size, constants.restore_share), constants.restore_value)
    return waiting_revisions(constants, revisions) * (workload.key_size + constants.restore_pending + value)


def start_up(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return the memory that only a start needs, to rebuild the index and to replay the raft log.

    Unit: bytes
    Source: server/storage/mvcc/kvstore.go, restore
    """
    rebuilt = workload.keys * constants.restore_key + settings.snapshot_count * constants.restore_entry
    waiting = restore_waiting(constants, workload, workload.keys + db.history)
    return constants.restore_slack + rebuilt + waiting


def components(
    constants: Constants, workload: Workload, settings: Settings, members: int, db: Database, entries: int
) -> Components:
    """Return each component of a member with this number of entries in its raft log.

    Unit: bytes
    Source: the other formulas
    """
    rewritten = rewritten_pages(constants, workload, settings, db)
    return Components(
        base=constants.base_heap,
        raft_log=entries * raft_entry(constants, workload),
        peers=(members - 1) * constants.peer_connection,
        index=index(constants, workload, db.history),
        watches=watches(constants, workload),
        connections=connections(constants, workload),
        leases=workload.leases * constants.lease,
        requests=requests(constants, workload, members, rewritten),
        write_batch=largest_commit(constants, workload, settings, db),
        freelist=freelist(constants, db),
        range_answers=permille(workload.range_size, constants.range_copies),
        watch_events=watch_events(constants, workload, members, rewritten),
        start_up=start_up(constants, workload, settings, db),
    )


def heap_live(parts: Components) -> int:
    """Return the live heap at the peak: the components that are always present.

    Unit: bytes
    Source: the other formulas
    """
    stored = parts.raft_log + parts.index + parts.leases + parts.freelist
    traffic = parts.peers + parts.watches + parts.connections + parts.requests + parts.write_batch
    return parts.base + stored + traffic
