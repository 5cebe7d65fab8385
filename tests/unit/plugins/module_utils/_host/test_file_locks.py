# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks of files, also on filesystems whose files have another device number than their mount."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import file_locks
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import Mount
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import wal_move


def test_locks_of_open_files_and_of_processes() -> None:
    text = (
        "1: OFDLCK ADVISORY  WRITE -1 fe:00:10357098 0 EOF\n"
        "2: FLOCK  ADVISORY  WRITE 10748 fd:10:97 0 EOF\n"
        "2: -> FLOCK  ADVISORY  WRITE 10749 fd:10:97 0 EOF\n"
        "noise\n"
    )
    assert file_locks.parse_locks(text) == {("254:0", 10357098), ("253:16", 97)}


@pytest.mark.parametrize(("number", "found"), [("0:31", True), ("0:32", False)])
def test_lock_on_btrfs(tmp_path: Path, number: str, found: bool) -> None:
    """stat(2) returns the number of the subvolume, which neither mountinfo nor /proc/locks has."""
    log = tmp_path / "wal" / "0.wal"
    log.parent.mkdir()
    log.touch()
    locks = tmp_path / "locks"
    locks.write_text(f"1: FLOCK  ADVISORY  WRITE -1 00:1f:{log.stat().st_ino} 0 EOF\n")
    mounts = [
        Mount("254:1", "/", "/", "ext4", "/dev/vda1", "rw"),
        Mount(number, "/etcd", str(tmp_path), "btrfs", "/dev/vdb", "rw"),
    ]
    result = file_locks.locked_file(str(tmp_path), ["*.wal", "*/*.wal"], str(locks), mounts)
    assert result == (str(log) if found else None)


def test_filesystem_below_the_directory(tmp_path: Path) -> None:
    """The log may be on a volume of its own below the directory that is asked for."""
    log = tmp_path / "member" / "wal" / "0.wal"
    log.parent.mkdir(parents=True)
    log.touch()
    locks = tmp_path / "locks"
    locks.write_text(f"1: FLOCK  ADVISORY  WRITE -1 fe:20:{log.stat().st_ino} 0 EOF\n")
    mounts = [
        Mount("254:1", "/", "/", "ext4", "/dev/vda1", "rw"),
        Mount("254:32", "/", f"{tmp_path}/member/wal", "ext4", "/dev/vdc", "rw"),
    ]
    assert file_locks.locked_file(str(tmp_path), ["member/wal/*.wal"], str(locks), mounts) == str(log)


def test_log_of_a_running_member(tmp_path: Path) -> None:
    log = tmp_path / "0.wal"
    log.touch()
    assert wal_move.locked_file(str(tmp_path)) is None
    handle = os.open(log, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert wal_move.locked_file(str(tmp_path)) == str(log)
    finally:
        os.close(handle)
