# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the storage backend holds in memory besides the database file: the write batch, the pages of a compaction, and the free pages.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille, scale_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import Database
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import put_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload


def put_in_batch(constants: Constants, workload: Workload, db: Database) -> int:
    """Return the bytes of one put in the write batch: the mean of the put and of its share of the pages, and its overhead.

    Unit: bytes
    Source: server/storage/backend/tx_buffer.go
    """
    return divide_up(db.revision + put_size(workload), 2) + constants.put_overhead


def write_batch(constants: Constants, workload: Workload, db: Database) -> int:
    """Return the puts that are written to the database between two commits.

    Unit: bytes
    Source: server/storage/backend/batch_tx.go
    """
    written = workload.puts_per_second * put_in_batch(constants, workload, db)
    return permille(scale_up(written, constants.write_batch_period, 1000), constants.write_batch_copies)


def deleted_revisions(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return the revisions that one compaction by etcd deletes. Compactions that clients request, as Kubernetes does, are unknown.

    Unit: revisions
    Source: server/etcdserver/api/v3compactor/periodic.go and revision.go
    """
    return (
        0
        if settings.retention == 0
        else min(db.history, workload.puts_per_second * constants.compaction_revision_check)
        if settings.auto_compaction_mode == "revision"
        else min(db.history, workload.puts_per_second * min(settings.retention, constants.compaction_hour))
    )


def rewritten_pages(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return the pages of kept revisions that bbolt writes again in one commit of a compaction, because they share a leaf with a deleted one.

    A leaf has two revisions that are larger than a page. If a share of the revisions is deleted, in random order, the kept ones beside a deleted one are
    this share of the others: at most a quarter of all, if half of them are deleted.

    Unit: bytes
    Source: server/storage/mvcc/kvstore_compaction.go; go.etcd.io/bbolt, node.go
    """
    deleted = deleted_revisions(constants, workload, settings, db)
    beside = min(deleted, workload.keys, constants.compaction_revisions)
    pairs = min(deleted + workload.keys, constants.compaction_revisions) // constants.db_leaf_min
    large = min(beside, pairs // constants.db_leaf_min) * db.revision
    kept = max(large, beside * min(db.revision, constants.db_page))
    return permille(kept, constants.compaction_rewritten)


def compaction_batch(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return what a compaction needs in one commit: the kept revisions that bbolt writes again, and the map of all kept revisions.

    Unit: bytes
    Source: server/storage/mvcc/kvstore_compaction.go and index.go
    """
    deleted = deleted_revisions(constants, workload, settings, db)
    kept_map = min(deleted, 1) * workload.keys * constants.compaction_key
    return rewritten_pages(constants, workload, settings, db) + kept_map


def largest_commit(constants: Constants, workload: Workload, settings: Settings, db: Database) -> int:
    """Return what the largest commit holds: the puts of one period, or what a compaction needs and the puts since the last commit.

    Unit: bytes
    Source: server/storage/mvcc/kvstore_compaction.go
    """
    batch = write_batch(constants, workload, db)
    return max(batch, compaction_batch(constants, workload, settings, db) + permille(batch, constants.compaction_puts))


def freelist(constants: Constants, db: Database) -> int:
    """Return bbolt's list of free pages: each page's id, and each span of them, which a large value leaves in one piece.

    Unit: bytes
    Source: go.etcd.io/bbolt, internal/freelist/hashmap.go
    """
    free = db.size - db.in_use
    spans = divide_up(free, max(constants.db_page, db.revision))
    return permille(free, constants.freelist) + spans * constants.freelist_span
