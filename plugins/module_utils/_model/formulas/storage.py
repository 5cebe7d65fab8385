# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a member stores: its database file, its raft log, and the index of its keys.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille, size_class
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import NO_QUOTA, Database
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload


def put_size(workload: Workload) -> int:
    """Return the size of one put.

    Unit: bytes
    Source: the workload
    """
    return workload.key_size + workload.value_size


def kept_revisions(constants: Constants, workload: Workload, settings: Settings, room: int) -> int:
    """Return the old revisions at the peak, just before a compaction; room is the number of revisions that the quota allows.

    Unit: revisions beyond the live ones
    Source: server/etcdserver/api/v3compactor/periodic.go and revision.go
    """
    return (
        (workload.revisions_per_key - 1) * workload.keys
        if workload.revisions_per_key is not None
        else room
        if settings.retention == 0 and workload.puts_per_second > 0
        else 0
        if settings.retention == 0
        else settings.retention + workload.puts_per_second * constants.compaction_revision_check
        if settings.auto_compaction_mode == "revision"
        else workload.puts_per_second * permille(settings.retention, constants.compaction_periodic_peak)
        if settings.retention <= constants.compaction_hour
        else workload.puts_per_second * (settings.retention + constants.compaction_long_extra)
    )


def database_limit(constants: Constants, settings: Settings) -> int:
    """Return the largest database that the quota allows. A quota of 0 means etcd's default, a negative one no quota.

    Unit: bytes
    Source: server/storage/quota.go
    """
    return (
        settings.quota_backend_bytes
        if settings.quota_backend_bytes > 0
        else constants.quota_default
        if settings.quota_backend_bytes == 0
        else NO_QUOTA
    )


def database(constants: Constants, workload: Workload, settings: Settings) -> Database:
    """Return the database file, from the number of revisions, and of revisions in each leaf of bbolt's tree.

    Unit: bytes; history in revisions
    Source: go.etcd.io/bbolt, node.go; server/storage/backend/batch_tx.go
    """
    element = constants.db_revision_overhead + put_size(workload)
    leaf = max(constants.db_leaf_min, constants.db_leaf_fill // element)
    pages = divide_up(constants.db_page_header + leaf * element, constants.db_page)
    revision = divide_up(pages * constants.db_page, leaf)
    limit = database_limit(constants, settings)
    live = workload.keys * revision
    room = max(limit - live, 0) // revision
    history = min(kept_revisions(constants, workload, settings, room), room)
    in_use = min(live + history * revision, limit)
    size = min(permille(in_use, constants.db_churn), limit)
    return Database(revision=revision, history=history, live=live, limit=limit, in_use=in_use, size=size)


def raft_entries(constants: Constants, settings: Settings) -> int:
    """Return the entries of the raft log in memory just before they are compacted.

    3.5 compacts the log with each disk snapshot, 3.6 and later each 100 entries.

    Unit: entries
    Source: server/etcdserver/server.go, snapshot and compactRaftLog
    """
    return (
        settings.snapshot_catchup_entries + constants.raft_compacts_every + 1
        if constants.raft_compacts_every > 0
        else settings.snapshot_catchup_entries + settings.snapshot_count + 1
    )


def raft_entry(constants: Constants, workload: Workload) -> int:
    """Return the size of one put in the raft log.

    Unit: bytes
    Source: raftpb.Entry, and Go's size classes in runtime/sizeclasses.go
    """
    return size_class(put_size(workload) + constants.raft_entry_overhead) + constants.raft_entry_struct


def raft_log_growth(constants: Constants, workload: Workload, settings: Settings, members: int, db: Database) -> int:
    """Return the growth of the leader's raft log while a follower receives a snapshot and for a time after it: no compaction runs then.

    Before 3.6 a compaction runs only every snapshot-count entries, so it grows until the next one.

    Unit: bytes
    Source: server/etcdserver/server.go, compactRaftLog and sendMergedSnap
    """
    seconds = divide_up(db.size, constants.snapshot_speed) + constants.snapshot_hold
    written = min(members - 1, 1) * workload.puts_per_second * seconds
    return (
        written * raft_entry(constants, workload)
        if constants.raft_compacts_every > 0
        else divide_up(written, max(settings.snapshot_count, 1))
        * settings.snapshot_count
        * raft_entry(constants, workload)
    )


def index(constants: Constants, workload: Workload, history: int) -> int:
    """Return the index: each key with its slot in the tree and its versions.

    Unit: bytes
    Source: server/storage/mvcc/index.go and key_index.go
    """
    key = constants.index_key + size_class(workload.key_size) + constants.index_version
    old = history * constants.index_version
    return workload.keys * (key + constants.index_slot) + permille(old, constants.index_growth)
