# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Move the log of a real member of each series, and lose the disk it moved to."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import wal
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import wal_move

from bench.common.member import Member, releases, running
from tests.integration.client import etcdctl

PORT = 24970


def write(member: Member, keys: int) -> int:
    """Write keys and return the raft index of the last one."""
    for number in range(keys):
        etcdctl(member, "put", f"/key/{number}", "value")
    status: dict[str, Any] = json.loads(etcdctl(member, "endpoint", "status", "-w", "json"))[0]["Status"]
    return int(status["raftIndex"])


@pytest.mark.parametrize("version", releases())
def test_outdated_log_is_refused_after_the_new_one_is_lost(version: str, tmp_path: Path) -> None:
    member = Member(version, tmp_path, PORT, flags=["--snapshot-count=20"])
    source, target = str(tmp_path / "default/member/wal"), str(tmp_path / "volume/wal")
    os.mkdir(tmp_path / "volume")
    with running([member]):
        moved_at = write(member, 5)
    assert wal.last_index(source) == moved_at
    wal_move.move_log(source, target, wal_move.next_step(source, target))
    member.flags = [*member.flags, f"--wal-dir={target}"]
    with running([member]):
        assert write(member, 40) == wal.last_index(target) > moved_at
    shutil.rmtree(target)
    with pytest.raises(wal_move.WalMoveError, match="was complete, and the member may have written since"):
        wal_move.next_step(source, target)
    os.unlink(source)
    with pytest.raises(
        wal_move.WalMoveError, match=f"ends with raft entry {moved_at}, but the member has a snapshot at"
    ):
        wal_move.next_step(source, target)
