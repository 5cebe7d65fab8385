# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The space that a restore needs on each volume."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore_space
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import Restore, RestoreError
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts

ID = "20261121T101500Z"
MIB = 1 << 20


def volumes(monkeypatch: pytest.MonkeyPatch, free: dict[str, int]) -> None:
    """Pretend that each folder is a filesystem of its own with these free bytes; longer paths win."""

    def volume(path: str) -> str:
        return max((folder for folder in free if f"{path}/".startswith(f"{folder}/")), key=len)

    monkeypatch.setattr(restore_space, "available_bytes", lambda path: free[volume(path)])
    monkeypatch.setattr(restore_space, "device_of", lambda path: list(free).index(volume(path)))


def problem(restore: Restore, size: int, copies: tuple[str, ...] = (), reserve: int = 0, planned: bool = False) -> str:
    try:
        restore_space.check_free_space(restore, size, reserve, copies, planned=planned)
    except RestoreError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("data", "wal", "copy", "size", "expected"),
    [
        # The database of 10 MiB grows by 32, and its copy is on the same volume: 52 MiB.
        (52, 123, True, 10, ""),
        (
            51,
            123,
            True,
            10,
            "data has 51.0 MiB free, but the restore needs 52.0 MiB there: 10.0 MiB for a copy of the snapshot, ",
        ),
        (42, 123, False, 10, ""),
        (
            52,
            122,
            True,
            10,
            "wal has 122.0 MiB free, but the restore needs 122.1 MiB there: 122.1 MiB for the new log, and",
        ),
    ],
)
def test_each_volume_has_its_own_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: int, wal: int, copy: bool, size: int, expected: str
) -> None:
    for name in ("data", "wal"):
        (tmp_path / name).mkdir()
    volumes(monkeypatch, {str(tmp_path / "data"): data * MIB, str(tmp_path / "wal"): wal * MIB})
    restore = Restore(ID, str(tmp_path / "data" / "etcd"), str(tmp_path / "wal" / "member" / "wal"))
    found = problem(restore, size * MIB, (str(tmp_path / "data" / "staging"),) if copy else ())
    assert found.startswith(f"{tmp_path}/{expected}") if expected else not found


@pytest.mark.parametrize(("free", "fits"), [(175, True), (174, False)])
@pytest.mark.parametrize("separate", [False, True])
def test_folders_of_one_volume_share_its_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, fits: bool, separate: bool
) -> None:
    """10 MiB for the copy, 42 for the database, 122 for the log; the WAL dir may be separate and on the same volume."""
    (tmp_path / "wal").mkdir()
    volumes(monkeypatch, {str(tmp_path): free * MIB})
    restore = Restore(ID, str(tmp_path / "data"), str(tmp_path / "wal" / "member" / "wal") if separate else "")
    assert (problem(restore, 10 * MIB, (str(tmp_path / "staging"),)) == "") == fits


def test_leftovers_count_as_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The preparation removes them before it writes anything."""
    restore = Restore(ID, str(tmp_path / "data"), "")
    left = tmp_path / "data.restore-20261120T101500Z"
    left.mkdir()
    (tmp_path / "data.restored").mkdir()
    (left / "db").write_bytes(os.urandom(4 * MIB))
    assert restore_space.leftovers(restore) == [str(left)]
    volumes(monkeypatch, {str(tmp_path): 163 * MIB})
    assert problem(restore, 10 * MIB) == ""
    (left / "db").unlink()
    assert "has 163.0 MiB free, but the restore needs 164.1 MiB there" in problem(restore, 10 * MIB)


def test_folders_that_cannot_be_swapped(tmp_path: Path) -> None:
    missing = Restore(ID, str(tmp_path / "none" / "data"), "")
    assert "none does not exist: mount its volume, or create it" in problem(missing, 0)
    assert problem(missing, 0, planned=True) == ""
    assert "/proc is a mount point and cannot be renamed: set etcd_data_dir" in problem(Restore(ID, "/proc", ""), 0)
    on_mount = Restore(ID, str(tmp_path / "data"), "/proc/wal")
    assert "/proc is a mount point and cannot be renamed: set etcd_wal_dir" in problem(on_mount, 0)


def test_a_wal_dir_that_is_a_mount_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder above it could be renamed, but the new log would be on another volume. A bind mount may have the device of that folder."""
    wal_dir = str(tmp_path / "wal" / "log")
    bound = mounts.Mount("254:0", "/log", wal_dir, "ext4", "/dev/vda", "rw")
    monkeypatch.setattr(mounts, "read_mounts", lambda: [bound])
    restore = Restore(ID, str(tmp_path / "data"), wal_dir)
    assert f"{wal_dir} is a mount point and cannot be renamed: set etcd_wal_dir to a folder below" in problem(
        restore, 0
    )
