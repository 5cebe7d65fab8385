# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders that a restore swaps, and refused restores. tests/integration restores real snapshots."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore as backup_restore
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import (
    FolderSwap,
    Restore,
    RestoreError,
    check_id,
    resolve_restore,
)

ID, OTHER = "20261121T101500Z", "20261122T101500Z"


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
        (
            "/srv/etcd/data",
            "/srv/etcd/wal",
            [
                FolderSwap("/srv/etcd/wal", f"/srv/etcd/wal.restore-{ID}"),
                FolderSwap("/srv/etcd/data", f"/srv/etcd/data.restore-{ID}"),
            ],
        ),
        ("/srv/data", "/srv/data/wal", [FolderSwap("/srv/data", f"/srv/data.restore-{ID}")]),
    ],
)
def test_swapped_folders(data_dir: str, wal_dir: str, swaps: list[FolderSwap]) -> None:
    """The data last: once it is in place, all is."""
    assert Restore(ID, data_dir, wal_dir).swaps == swaps


@pytest.mark.parametrize(
    ("data_dir", "wal_dir", "expected"),
    [
        ("/srv/wal/../data/", "/srv/wal/", ("/srv/data", "/srv/wal")),
        ("/srv/data", "/srv/data/../wal", ("/srv/data", "/srv/wal")),
        ("{link}", "", ("{real}/data", "")),
        # Outside its own folder by name only.
        ("{real}/data", "{link}/member/wal", ("{real}/data", "{real}/data/member/wal")),
        # A log that was moved before: the link to its old place is part of the old data.
        ("{real}/data", "{real}/data/member/wal", ("{real}/data", "{real}/data/member/wal")),
    ],
)
def test_paths_are_resolved(tmp_path: Path, data_dir: str, wal_dir: str, expected: tuple[str, str]) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    (real / "data" / "member").mkdir(parents=True)
    (real / "wal").mkdir()
    link.symlink_to(real / "data")
    (real / "data" / "member" / "wal").symlink_to(real / "wal")
    names = {"real": str(real), "link": str(link)}
    if wal_dir == "{link}/member/wal":
        (real / "data" / "member" / "wal").unlink()
        (real / "data" / "member" / "wal").mkdir()
    restore = resolve_restore(ID, data_dir.format(**names), wal_dir.format(**names))
    assert (restore.data_dir, restore.wal_dir) == tuple(path.format(**names) for path in expected)


@pytest.mark.parametrize("wal_dir", ["/srv/etcd", "/srv/etcd/data", "/srv/other/../etcd/"])
def test_a_wal_dir_that_contains_the_data_dir_is_refused(wal_dir: str) -> None:
    with pytest.raises(RestoreError, match=rf"the data dir /srv/etcd/data is in the WAL dir {wal_dir}, so they cannot"):
        resolve_restore(ID, "/srv/etcd/data", wal_dir)


@pytest.mark.parametrize("name", ["", "now", "../x", "20261121T101500Z ", "2026-11-21"])
def test_invalid_ids(name: str) -> None:
    with pytest.raises(RestoreError, match="write the time of the restore, such as 20261121T101500Z"):
        check_id(name)


def made(folder: Path) -> Restore:
    """A restore whose new data is made; the old is there too."""
    restore = Restore(ID, str(folder / "data"), str(folder / "wal" / "member" / "wal"))
    for swap in restore.swaps:
        for path, content in ((swap.live, "old"), (swap.prepared, "new")):
            Path(path, "member").mkdir(parents=True)
            Path(path, "member", "what").write_text(content)
    for swap in restore.swaps:
        Path(restore.record_path(swap, swap.prepared)).write_text(json.dumps({"id": ID, "snapshot": {}}))
    return restore


def test_no_link_is_followed_to_another_file(tmp_path: Path) -> None:
    """Etcd's user may put one into a folder that is handed over to it."""
    outside = tmp_path / "outside"
    outside.write_text("secret")
    outside.chmod(0o644)
    folder = tmp_path / "data" / "snap"
    folder.mkdir(parents=True)
    (folder / "db").write_text("page")
    backup_restore._set_owner_and_flush(str(tmp_path / "data"), os.geteuid(), os.getegid())
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "db")] == [0o700, 0o600]
    (folder / "db").unlink()
    (folder / "db").symlink_to(outside)
    with pytest.raises(OSError, match="symbolic links"):
        backup_restore._set_owner_and_flush(str(tmp_path / "data"), os.geteuid(), os.getegid())
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(RestoreError, match="was replaced by a link"):
        backup_restore._set_owner_and_flush(str(tmp_path / "link"), os.geteuid(), os.getegid())
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_activate(tmp_path: Path) -> None:
    restore, marker = made(tmp_path), str(tmp_path / "restoring")
    assert (restore.is_prepared, restore.is_activated) == (True, False)
    assert backup_restore.activate(restore, marker) == [
        f"{tmp_path}/wal/member.before-{ID}",
        f"{tmp_path}/data.before-{ID}",
    ]
    assert (restore.is_prepared, restore.is_activated) == (False, True)
    assert (tmp_path / "data" / "member" / "what").read_text() == "new"
    assert (tmp_path / f"data.before-{ID}" / "member" / "what").read_text() == "old"
    folders = {"data_dir": f"{tmp_path}/data", "wal_dir": f"{tmp_path}/wal/member/wal"}
    assert backup_restore.read_marker(marker) == {"id": ID, **folders}
    assert backup_restore.activate(restore, marker) == []
    assert backup_restore.finish(marker) and not backup_restore.finish(marker)


LOST = {
    "data": ("data", f"data.restore-{ID}"),
    "wal": ("wal",),
    "all": ("data", f"data.restore-{ID}", "wal"),
}


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("activated", [False, True])
def test_a_lost_volume_makes_the_data_incomplete(tmp_path: Path, lost: str, activated: bool) -> None:
    restore, marker = made(tmp_path), str(tmp_path / "restoring")
    if activated:
        backup_restore.activate(restore, marker)
    assert restore.is_ready and restore.record["id"] == ID
    for name in LOST[lost]:
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    assert not restore.is_ready and bool(restore.record) == (lost != "all")
    (tmp_path / "wal").mkdir(exist_ok=True)
    for step in (backup_restore.begin, backup_restore.activate):
        with pytest.raises(RestoreError, match="not exist: prepare the restore first"):
            step(restore, marker)


def test_new_data_is_incomplete_until_the_data_dir_is_prepared_again(tmp_path: Path) -> None:
    """The log's volume was lost after the activation, and the second preparation was interrupted between its two renames."""
    restore = made(tmp_path)
    backup_restore.activate(restore, str(tmp_path / "restoring"))
    shutil.rmtree(restore.swaps[0].live)
    Path(restore.swaps[0].prepared).mkdir()
    assert (restore.is_prepared, restore.is_activated) == (False, False)
    Path(restore.swaps[1].prepared).mkdir()
    assert (restore.is_prepared, restore.is_activated) == (True, False)


def test_old_data_is_never_overwritten(tmp_path: Path) -> None:
    """Even if something stands where it would be moved to."""
    restore = made(tmp_path)
    (tmp_path / f"data.before-{ID}").mkdir()
    assert backup_restore.activate(restore, str(tmp_path / "restoring"))[1] == f"{tmp_path}/data.before-{ID}-2"
    assert (tmp_path / f"data.before-{ID}-2" / "member" / "what").read_text() == "old"


def test_marker_of_a_restore_that_replaces_data_stays(tmp_path: Path) -> None:
    """A second controller prepared its restore before the first one replaced the data."""
    first, marker = made(tmp_path), str(tmp_path / "restoring")
    backup_restore.begin(first, marker)
    backup_restore.activate(first, marker)
    second = Restore(OTHER, first.data_dir, first.wal_dir)
    for swap in second.swaps:
        Path(swap.prepared, "member").mkdir(parents=True)
    with pytest.raises(
        RestoreError, match=rf"the restore {ID} is replacing the data of this host .*, and this is {OTHER}"
    ):
        backup_restore.begin(second, marker)
    assert backup_restore.pending_id(marker) == ID
    backup_restore.finish(marker)
    backup_restore.begin(second, marker)


def test_hosts_without_old_data(tmp_path: Path) -> None:
    restore = made(tmp_path)
    for swap in restore.swaps:
        Path(swap.live).rename(f"{swap.live}.gone")
    assert backup_restore.activate(restore, str(tmp_path / "restoring")) == []
    assert restore.is_activated


def test_nothing_is_lost_of_a_data_dir_next_to_the_wal_dir(tmp_path: Path) -> None:
    """The folder above the WAL contains the data dir, and is not renamed."""
    restore = Restore(ID, str(tmp_path / "data"), str(tmp_path / "wal"))
    for swap in restore.swaps:
        for path, content in ((swap.live, "old"), (swap.prepared, "new")):
            Path(path, "member").mkdir(parents=True)
            Path(path, "member", "what").write_text(content)
    (tmp_path / "other").write_text("stays")
    aside = backup_restore.activate(restore, str(tmp_path / "restoring"))
    assert aside == [f"{tmp_path}/wal.before-{ID}", f"{tmp_path}/data.before-{ID}"]
    assert [Path(path, "member", "what").read_text() for path in aside] == ["old", "old"]
    assert [(tmp_path / name / "member" / "what").read_text() for name in ("wal", "data")] == ["new", "new"]
    assert (tmp_path / "other").read_text() == "stays"


@pytest.mark.parametrize(
    ("names", "swapped"),
    [
        ([], "srv"),
        (["wal.tmp", "wal.broken.20261121.101500.000000", "wal.moved", "headroom-restore.json"], "srv"),
        ([f"wal.before-{OTHER}", f"wal.restore-{OTHER}"], "srv"),
        (["backups"], "srv/wal"),
        (["wallet"], "srv/wal"),
        (["lost+found"], "srv/wal"),
    ],
)
def test_the_folder_above_the_wal_is_renamed_only_if_it_is_etcds_own(
    tmp_path: Path, names: list[str], swapped: str
) -> None:
    for name in ("wal", *names):
        (tmp_path / "srv" / name).mkdir(parents=True)
    restore = resolve_restore(ID, str(tmp_path / "data"), str(tmp_path / "srv" / "wal"))
    assert [swap.live for swap in restore.swaps] == [f"{tmp_path}/{swapped}", f"{tmp_path}/data"]


def test_a_mount_point_above_the_wal_is_not_renamed() -> None:
    assert resolve_restore(ID, "/var/lib/etcd/data", "/wal").swaps[0].live == "/wal"


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("step", ["prepared", "activated"])
def test_a_restore_goes_on_with_the_folders_that_it_began_with(tmp_path: Path, shared: bool, step: str) -> None:
    """Whatever was put next to the WAL, or removed, since then."""
    other, marker = tmp_path / "srv" / "backups", str(tmp_path / "restoring")
    (tmp_path / "srv" / "wal").mkdir(parents=True)
    (tmp_path / "data" / "member").mkdir(parents=True)
    if shared:
        other.mkdir()
    paths = (ID, str(tmp_path / "data"), str(tmp_path / "srv" / "wal"))
    restore = resolve_restore(*paths)
    for swap in restore.swaps:
        Path(swap.prepared, "member").mkdir(parents=True)
        Path(restore.record_path(swap, swap.prepared)).write_text(json.dumps({"id": ID, "snapshot": {}}))
    Path(restore.wal_dir_below("")).mkdir(exist_ok=True)
    if step == "activated":
        aside = backup_restore.activate(restore, marker)
        assert aside[0] == f"{tmp_path}/srv{'/wal' if shared else ''}.before-{ID}"
    if shared:
        other.rmdir()
    else:
        other.mkdir()
    again = resolve_restore(*paths)
    assert (again, again.is_ready, again.is_activated) == (restore, True, step == "activated")


def test_nothing_next_to_the_wal_is_moved(tmp_path: Path) -> None:
    other = tmp_path / "srv" / "backups" / "etcd.db"
    for path in (other, tmp_path / "srv" / "wal" / "old.wal", tmp_path / "data" / "member" / "what"):
        path.parent.mkdir(parents=True)
        path.write_text("old")
    restore = resolve_restore(ID, str(tmp_path / "data"), str(tmp_path / "srv" / "wal"))
    for swap in restore.swaps:
        Path(swap.prepared, "member").mkdir(parents=True)
        Path(restore.record_path(swap, swap.prepared)).write_text(json.dumps({"id": ID, "snapshot": {}}))
    aside = backup_restore.activate(restore, str(tmp_path / "restoring"))
    assert aside == [f"{tmp_path}/srv/wal.before-{ID}", f"{tmp_path}/data.before-{ID}"]
    assert other.read_text() == "old" and (Path(aside[0]) / "old.wal").exists()


def test_activate_requires_prepare(tmp_path: Path) -> None:
    marker = tmp_path / "restoring"
    with pytest.raises(RestoreError, match=rf"data.restore-{ID} does not exist: prepare the restore first"):
        backup_restore.activate(Restore(ID, str(tmp_path / "data"), ""), str(marker))
    assert not marker.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"id": 7}'])
def test_invalid_marker(tmp_path: Path, content: str) -> None:
    (tmp_path / "restoring").write_text(content)
    with pytest.raises(RestoreError, match="is not the marker of a restore: check the folders next to the data dir"):
        backup_restore.read_marker(str(tmp_path / "restoring"))
    assert backup_restore.read_marker(str(tmp_path / "none")) is None
