# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room for a change of the release."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._release.free_space import (
    Room,
    release_rooms,
    room_problems,
)


def test_room_is_added_up_for_each_volume(tmp_path: Path) -> None:
    few = [Room(str(tmp_path / "backup"), "a backup", databases=1), Room(str(tmp_path), "the release", size=10)]
    assert room_problems(few, 10) == []
    [problem] = room_problems([*few, Room(str(tmp_path), "the log", databases=1)], 1 << 60)
    assert "are free on the volume for a backup" in problem
    assert "the release" in problem
    assert "2.0 EiB are needed: free space" in problem or "are needed: free space" in problem


def test_the_space_for_the_log_and_each_release() -> None:
    log = Room("/wal", "the write-ahead log", 128_000_000)
    assert release_rooms([], "/wal", "/opt/etcd") == [log]
    assert release_rooms(["3.6.16", "3.7.3"], "/wal", "/opt/etcd") == [
        log,
        Room("/opt/etcd", "etcd 3.6.16", 150_000_000),
        Room("/opt/etcd", "etcd 3.7.3", 150_000_000),
    ]
