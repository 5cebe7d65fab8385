# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The revision that restored data begins with."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import RestoreError
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_revisions import (
    DEFAULT_BUMP,
    MAX_REVISION,
    first_revision,
    required_bump,
)


@pytest.mark.parametrize(
    ("record", "revision"),
    [
        ({}, 0),
        ({"snapshot": {"revision": 40}, "bump": 7}, 47),
        ({"snapshot": {"revision": 40}, "bump": 0}, 40),
        ({"snapshot": {"revision": 40}}, 40 + DEFAULT_BUMP),  # of an older release
        # Not what the collection writes.
        ({"snapshot": None, "bump": 7}, 0),
        ({"snapshot": {"revision": "40"}, "bump": 7}, 0),
        ({"snapshot": {"revision": 40}, "bump": True}, 0),
        ({"snapshot": {"revision": 40}, "bump": -7}, 0),
        ({"snapshot": {"revision": 40}, "bump": 1 << 80}, 0),
    ],
)
def test_revision_that_restored_data_began_with(record: dict[str, Any], revision: int) -> None:
    assert first_revision(record) == revision


@pytest.mark.parametrize(
    ("revision", "known", "bump", "required"),
    [
        (40, 0, 100, 100),
        (40, 40, 100, 100),
        (40, 39, 100, 100),  # a snapshot of after the earlier restore
        (40, 140, 100, 200),
        (40, 140, 0, 0),
        (40, MAX_REVISION - 100, 100, MAX_REVISION - 40),
    ],
)
def test_required_bump(revision: int, known: int, bump: int, required: int) -> None:
    assert required_bump(revision, known, bump) == required


def test_many_restores_of_one_snapshot() -> None:
    """Each adds only the bump to the one before."""
    record: dict[str, Any] = {}
    for number in range(1, 1001):
        record = {"snapshot": {"revision": 40}, "bump": required_bump(40, first_revision(record), DEFAULT_BUMP)}
        assert first_revision(record) == 40 + number * DEFAULT_BUMP


def test_a_revision_that_etcd_cannot_count_to() -> None:
    with pytest.raises(RestoreError, match=rf"bump_revision is 100 and the highest known revision {MAX_REVISION - 99}"):
        required_bump(40, MAX_REVISION - 99, 100)
