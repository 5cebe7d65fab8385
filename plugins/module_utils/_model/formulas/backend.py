# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the storage backend holds in memory besides the database file: the write batch and the free pages.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille, scale_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import Database
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import put_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Workload


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


def freelist(constants: Constants, db: Database) -> int:
    """Return bbolt's list of free pages: each page's id, and each span of them, which a large value leaves in one piece.

    Unit: bytes
    Source: go.etcd.io/bbolt, internal/freelist/hashmap.go
    """
    free = db.size - db.in_use
    spans = divide_up(free, max(constants.db_page, db.revision))
    return permille(free, constants.freelist) + spans * constants.freelist_span
