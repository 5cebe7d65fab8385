# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alarms in a database built by hand. Snapshots of real etcd: tests/integration/test_restored_alarm_of_real_etcd.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import snapshot_alarms

MEMBER = b"\x08\x88\x86\xac\x9f\x0f"  # its id, of several bytes
NOSPACE, CORRUPT = MEMBER + b"\x10\x01", MEMBER + b"\x10\x02"


@pytest.mark.parametrize(
    ("keys", "refused"), [([], False), ([NOSPACE], False), ([CORRUPT], True), ([NOSPACE, CORRUPT], True)]
)
def test_only_corrupt_is_refused(write_database: Callable[..., Path], keys: list[bytes], refused: bool) -> None:
    problem = snapshot_alarms.corruption_problem(str(write_database({b"alarm": dict.fromkeys(keys, b"")})))
    assert ("was taken while the alarm CORRUPT was set" in problem) is refused


def test_what_is_no_plain_snapshot_is_left_to_the_restore(write_database: Callable[..., Path], tmp_path: Path) -> None:
    whole = write_database({b"alarm": {CORRUPT: b""}}).read_bytes()
    for size in range(0, len(whole), 97):
        (tmp_path / "torn").write_bytes(whole[:size])
        snapshot_alarms.corruption_problem(str(tmp_path / "torn"))
    (tmp_path / "torn").write_bytes(b"age-encryption.org/v1\n" * 900)
    assert snapshot_alarms.corruption_problem(str(tmp_path / "torn")) == ""
