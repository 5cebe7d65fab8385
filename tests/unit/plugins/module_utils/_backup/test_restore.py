# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders that a restore swaps, and refused restores. tests/integration restores real snapshots."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore as backup_restore
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore import FolderSwap, Restore

ID = "20261121T101500Z"


@pytest.mark.parametrize(
    ("data_dir", "wal_dir", "swaps"),
    [
        ("/srv/data", "", [FolderSwap("/srv/data", f"/srv/data.restore-{ID}")]),
        ("/srv/data", "/srv/data/member/wal", [FolderSwap("/srv/data", f"/srv/data.restore-{ID}")]),
        (
            "/srv/data",
            "/wal/member/wal",
            [
                FolderSwap("/wal/member", f"/wal/member.restore-{ID}"),
                FolderSwap("/srv/data", f"/srv/data.restore-{ID}"),
            ],
        ),
        (
            "/srv/data",
            "/srv/data-wal/member/wal",
            [
                FolderSwap("/srv/data-wal/member", f"/srv/data-wal/member.restore-{ID}"),
                FolderSwap("/srv/data", f"/srv/data.restore-{ID}"),
            ],
        ),
    ],
)
def test_swapped_folders(data_dir: str, wal_dir: str, swaps: list[FolderSwap]) -> None:
    """The data last: once it is in place, all is."""
    assert Restore(ID, data_dir, wal_dir).swaps == swaps


@pytest.mark.parametrize("name", ["", "now", "../x", "20261121T101500Z ", "2026-11-21"])
def test_invalid_ids(name: str) -> None:
    with pytest.raises(backup_restore.RestoreError, match="write the time of the restore, such as 20261121T101500Z"):
        backup_restore.check_id(name)


def made(folder: Path) -> Restore:
    """A restore whose new data is made; the old is there too."""
    restore = Restore(ID, str(folder / "data"), str(folder / "wal" / "member" / "wal"))
    for swap in restore.swaps:
        for path, content in ((swap.live, "old"), (swap.prepared, "new")):
            Path(path, "member").mkdir(parents=True)
            Path(path, "member", "what").write_text(content)
    Path(restore.swaps[-1].prepared, "member", "headroom-restore.json").write_text(
        json.dumps({"id": ID, "snapshot": {}})
    )
    return restore


def test_activate(tmp_path: Path) -> None:
    restore, marker = made(tmp_path), str(tmp_path / "restoring")
    assert (restore.is_prepared, restore.is_activated) == (True, False)
    assert backup_restore.activate(restore, marker, 0) == [
        f"{tmp_path}/wal/member.before-{ID}",
        f"{tmp_path}/data.before-{ID}",
    ]
    assert (restore.is_prepared, restore.is_activated) == (False, True)
    assert (tmp_path / "data" / "member" / "what").read_text() == "new"
    assert (tmp_path / f"data.before-{ID}" / "member" / "what").read_text() == "old"
    assert backup_restore.read_marker(marker) == {"id": ID, "placed_at": "1970-01-01T00:00:00Z"}
    assert backup_restore.activate(restore, marker, 9) == []
    assert backup_restore.finish(marker) and not backup_restore.finish(marker)


def test_old_data_is_never_overwritten(tmp_path: Path) -> None:
    """Even if something stands where it would be moved to."""
    restore = made(tmp_path)
    (tmp_path / f"data.before-{ID}").mkdir()
    assert backup_restore.activate(restore, str(tmp_path / "restoring"), 0)[1] == f"{tmp_path}/data.before-{ID}-2"
    assert (tmp_path / f"data.before-{ID}-2" / "member" / "what").read_text() == "old"


def test_hosts_without_old_data(tmp_path: Path) -> None:
    restore = made(tmp_path)
    for swap in restore.swaps:
        Path(swap.live).rename(f"{swap.live}.gone")
    assert backup_restore.activate(restore, str(tmp_path / "restoring"), 0) == []
    assert restore.is_activated


def test_activate_requires_prepare(tmp_path: Path) -> None:
    marker = tmp_path / "restoring"
    with pytest.raises(
        backup_restore.RestoreError, match=rf"data.restore-{ID} does not exist: prepare the restore first"
    ):
        backup_restore.activate(Restore(ID, str(tmp_path / "data"), ""), str(marker), 0)
    assert not marker.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"id": 7}'])
def test_invalid_marker(tmp_path: Path, content: str) -> None:
    (tmp_path / "restoring").write_text(content)
    with pytest.raises(
        backup_restore.RestoreError, match="is not the marker of a restore: check the folders next to the data dir"
    ):
        backup_restore.read_marker(str(tmp_path / "restoring"))
    assert backup_restore.read_marker(str(tmp_path / "none")) is None


def test_too_little_free_space(tmp_path: Path) -> None:
    restore = Restore(ID, str(tmp_path / "data"), "")
    backup_restore.check_free_space(restore, 1 << 20, 0)
    with pytest.raises(backup_restore.RestoreError, match=r"PiB must stay free: move older data"):
        backup_restore.check_free_space(restore, 1 << 20, 1 << 55)
    with pytest.raises(backup_restore.RestoreError, match="none does not exist: mount its volume, or create it"):
        backup_restore.check_free_space(Restore(ID, str(tmp_path / "none" / "data"), ""), 0, 0)
    with pytest.raises(backup_restore.RestoreError, match="/proc is a mount point and cannot be renamed"):
        backup_restore.check_free_space(Restore(ID, "/proc", ""), 0, 0)
