# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The free pages of the database, and the pages that a compaction writes again."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model import arithmetic
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import backend, records, storage
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_input


def test_a_large_value_leaves_its_pages_in_one_span() -> None:
    constants = CONSTANTS_HIGH["3.7"]
    small = records.Database(revision=4096, history=0, live=0, limit=0, in_use=0, size=4096000)
    large = records.Database(revision=409600, history=0, live=0, limit=0, in_use=0, size=4096000)
    assert backend.freelist(constants, small) - backend.freelist(constants, large) == 990 * constants.freelist_span


def compaction(value_size: int, keys: int = 3000, **settings: Any) -> tuple[int, int, int]:
    """Return the deleted revisions, the rewritten bytes without the map of kept revisions, and a revision's size, for 150 puts/s."""
    workload = {"keys": keys, "value_size": value_size, "key_size": 32, "puts_per_second": 150}
    given = parse_input("3.7.3", workload, {"quota_backend_bytes": 8 << 30, **settings}, 1)
    constants = CONSTANTS_HIGH["3.7"]
    db = storage.database(constants, given.workload, given.settings)
    arguments = (constants, given.workload, given.settings, db)
    deleted = backend.deleted_revisions(*arguments)
    kept_map = keys * constants.compaction_key if deleted else 0
    return deleted, backend.compaction_batch(*arguments) - kept_map, db.revision


def test_without_compaction_nothing_is_written_again() -> None:
    assert compaction(100000, auto_compaction_retention="0")[:2] == (0, 0)


def test_a_compaction_writes_kept_revisions_beside_those_that_it_deletes() -> None:
    deleted, rewritten, revision = compaction(100000, auto_compaction_retention="2s")
    assert (deleted, rewritten) == (300, 250 * revision)
    deleted, rewritten, revision = compaction(100000, auto_compaction_retention="1s")
    assert (deleted, rewritten) == (150, 150 * revision), "not more than it deletes"


def test_a_commit_has_the_revisions_of_one_step_of_a_compaction() -> None:
    deleted, rewritten, revision = compaction(2000, auto_compaction_retention="200s")
    assert (deleted, rewritten) == (30000, 1000 * revision)


def test_a_quarter_of_large_revisions_is_kept_beside_a_deleted_one() -> None:
    """A leaf has two of them. If half of them are deleted in random order, a kept one has a deleted one beside it in half of the cases."""
    deleted, rewritten, revision = compaction(20000, auto_compaction_retention="200s")
    assert (deleted, rewritten) == (30000, 250 * revision)


def test_a_compaction_of_few_revisions_looks_at_all_of_them() -> None:
    deleted, rewritten, revision = compaction(700000, keys=400, auto_compaction_retention="2s")
    assert (deleted, rewritten) == (300, (400 + 300) // 4 * revision)


@pytest.mark.parametrize(
    ("settings", "deleted"),
    [
        ({"auto_compaction_mode": "periodic", "auto_compaction_retention": "5m"}, 150 * 300),
        ({"auto_compaction_mode": "periodic", "auto_compaction_retention": "3h"}, 150 * 3600),
        ({"auto_compaction_mode": "revision", "auto_compaction_retention": "1000"}, 150 * 300),
    ],
)
def test_a_compaction_deletes_what_was_put_since_the_last_one(settings: dict[str, str], deleted: int) -> None:
    assert compaction(1000, **settings)[0] == deleted


def test_the_commit_of_a_compaction_has_puts_too() -> None:
    workload = {"keys": 3000, "value_size": 20000, "key_size": 32, "puts_per_second": 1000}
    given = parse_input("3.7.3", workload, {"auto_compaction_retention": "2s"}, 1)
    constants = CONSTANTS_HIGH["3.7"]
    db = storage.database(constants, given.workload, given.settings)
    compacted = backend.compaction_batch(constants, given.workload, given.settings, db)
    puts = arithmetic.permille(backend.write_batch(constants, given.workload, db), constants.compaction_puts)
    assert backend.largest_commit(constants, given.workload, given.settings, db) == compacted + puts
