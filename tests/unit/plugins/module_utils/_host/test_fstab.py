# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What fstab lists, and what of it is not mounted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices, fstab
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts as host_mounts

FSTAB = """
# UUID=1 /old ext4
UUID=5c14 /var/lib/etcd ext4 noatime 0 2
/dev/vdb1 /srv/my\\040data xfs
LABEL=x none swap sw
broken
"""


def test_fstab_without_comments_and_with_defaults() -> None:
    assert fstab.parse_fstab(FSTAB) == [
        fstab.FstabEntry("UUID=5c14", "/var/lib/etcd", "ext4", "noatime", "0", "2"),
        fstab.FstabEntry("/dev/vdb1", "/srv/my data", "xfs", "defaults", "0", "0"),
        fstab.FstabEntry("LABEL=x", "none", "swap", "sw", "0", "0"),
    ]


SHARE = "nfs:/backups /mnt/share nfs"
ROOT = "21 1 254:0 / / rw - ext4 /dev/vda rw\n"
MOUNTED = ROOT + "30 21 0:40 / /mnt/share rw - nfs4 nfs:/backups rw\n"
AUTOMOUNT = ROOT + "29 21 0:39 / /mnt/share rw - autofs systemd-1 rw\n"


@pytest.mark.parametrize(
    ("path", "entries", "mounts", "unmounted"),
    [
        ("/mnt/share", SHARE, MOUNTED, ""),
        ("/mnt/share/etcd", SHARE, ROOT, "/mnt/share"),
        ("/mnt/share/", SHARE, ROOT, "/mnt/share"),
        ("/mnt/share", SHARE, AUTOMOUNT, "/mnt/share"),
        ("/mnt/shared", SHARE, ROOT, ""),
        ("/mnt", SHARE, ROOT, ""),
        ("/mnt/share", "/dev/vda / ext4\nLABEL=x none swap", ROOT, ""),
        ("/mnt/share", f"/dev/vdb /mnt ext4\n{SHARE}", MOUNTED, ""),  # the share hides the volume around it
        ("/mnt/share", f"/dev/vdb /mnt ext4\n{SHARE}", ROOT, "/mnt/share"),
    ],
)
def test_unmounted_volume(path: str, entries: str, mounts: str, unmounted: str) -> None:
    found = fstab.unmounted_volume(path, fstab.parse_fstab(entries), host_mounts.parse_mountinfo(mounts))
    assert found == unmounted


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "volume")
    entries = fstab.parse_fstab(f"/dev/vdb {tmp_path}/volume ext4")
    assert fstab.unmounted_volume(f"{tmp_path}/link", entries, []) == f"{tmp_path}/volume"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/dev/vdb /srv/etcd ext4 noatime 0 2", None),
        ("/dev/vdb /srv/etcd ext4 noatime # for etcd", None),
        ("/dev/vdb /srv/etcd/ ext4 noatime 0 2", "it writes the mount point as /srv/etcd/"),
        ("/dev/vdb /link ext4 noatime 0 2", "it writes the mount point as /link"),
        ("/dev/vdb /srv/etcd ext4", "it has 3 fields instead of 4 to 6"),
        ("/dev/vdb /srv/etcd ext4 noatime 0 2 for etcd", "it has 8 fields instead of 4 to 6"),
    ],
)
def test_lines_that_are_changed_in_place(line: str, problem: str | None) -> None:
    assert fstab.line_problem(line, "/srv/etcd") == problem


def test_entry_of_a_mount_point_however_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "volume")
    lines = [
        f"/dev/vdb {tmp_path}/link ext4 a",
        f"/dev/vdc {tmp_path}/volume/ ext4 b",
        f"/dev/vdd {tmp_path}/volume ext4 c",
    ]
    for last, options in ((1, "a"), (2, "a"), (3, "c")):
        found = fstab.entry_of(f"{tmp_path}/volume", fstab.parse_fstab("\n".join(lines[:last])), [])
        assert found is not None and found.options == options
    assert fstab.entry_of(str(tmp_path), fstab.parse_fstab("\n".join(lines)), []) is None


@pytest.mark.parametrize(
    ("entry", "point"),
    [
        ("link", "volume"),
        ("relative/etcd", "volume/etcd"),
        ("absolute/etcd", "volume/etcd"),
        ("relative/../volume/./etcd//", "volume/etcd"),
        ("chain", "volume"),
        ("missing/etcd", "missing/etcd"),
        ("loop/etcd", "loop/etcd"),
    ],
)
def test_links_in_an_entry_are_followed(tmp_path: Path, entry: str, point: str) -> None:
    (tmp_path / "volume").mkdir()
    for name, target in (
        ("link", f"{tmp_path}/volume"),
        ("relative", "./volume"),
        ("absolute", f"{tmp_path}/../{tmp_path.name}/volume/"),
        ("chain", "link"),
        ("loop", "loop"),
    ):
        (tmp_path / name).symlink_to(target)
    found = fstab._resolve(f"{tmp_path}/{entry}", f"{tmp_path}/volume/etcd", host_mounts.parse_mountinfo(ROOT))
    assert found == f"{tmp_path}/{point}"


@pytest.fixture
def hung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mounted share whose server does not answer. A look at it fails the test instead of waiting for ever."""
    share = tmp_path / "share"
    share.mkdir()

    def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
        def look(path: Any, *arguments: Any, **options: Any) -> Any:
            assert not os.path.normpath(os.fspath(path)).startswith(str(share)), f"{path} was accessed"
            return function(path, *arguments, **options)

        return look

    for name in ("lstat", "stat", "readlink", "statvfs", "listdir", "access"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
    return share


def test_a_share_that_hangs_is_not_looked_at(tmp_path: Path, hung: Path) -> None:
    """The play would hang without a message."""
    (tmp_path / "etcd").mkdir()
    (tmp_path / "link").symlink_to(hung)
    (tmp_path / "data").symlink_to("etcd")
    points = ["share", "share/", "share/below", "share/below/../deep", "link", "link/below", "data", "etcd/wal"]
    entries = fstab.parse_fstab("".join(f"nfs:/{number} {tmp_path}/{at} nfs\n" for number, at in enumerate(points)))
    mounts = host_mounts.parse_mountinfo(f"{ROOT}30 21 0:40 / {hung} rw - nfs4 nfs:/backups rw\n")
    with pytest.raises(AssertionError, match="was accessed"):
        os.path.realpath(f"{hung}/below")
    found = fstab.entry_of(f"{tmp_path}/etcd", entries, mounts)
    assert found is not None and found.source == "nfs:/6"
    unmounted = fstab.unmounted_entries(f"{tmp_path}/etcd/wal", entries, mounts)
    assert [entry.source for entry in unmounted] == ["nfs:/6", "nfs:/7"]
    assert fstab.unmounted_volume(f"{tmp_path}/etcd/wal", entries, mounts) == f"{tmp_path}/etcd/wal"
    facts = block_devices.mount_facts(f"{tmp_path}/etcd", mounts, entries)
    assert facts["fstab"]["source"] == "nfs:/6" and facts["covered_by"] == "/"


def test_a_mounted_volume_of_the_path_itself_is_found(tmp_path: Path) -> None:
    (tmp_path / "volume" / "etcd").mkdir(parents=True)
    (tmp_path / "volume" / "link").symlink_to("etcd")
    mounts = host_mounts.parse_mountinfo(f"{ROOT}30 21 254:16 / {tmp_path}/volume rw - ext4 /dev/vdb rw\n")
    entries = fstab.parse_fstab(f"/dev/vdb {tmp_path}/volume/ ext4\n/dev/vdc {tmp_path}/volume/link ext4")
    for path, source in (("volume", "/dev/vdb"), ("volume/etcd", "/dev/vdc")):
        found = fstab.entry_of(f"{tmp_path}/{path}", entries, mounts)
        assert found is not None and found.source == source
    assert fstab.unmounted_volume(f"{tmp_path}/volume/etcd", entries, mounts) == f"{tmp_path}/volume/etcd"
