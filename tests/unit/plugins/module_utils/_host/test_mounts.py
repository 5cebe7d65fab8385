# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounts, from mountinfo as captured beside etcd 3.7.3 in a container and as written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts as host_mounts

CAPTURED = Path(__file__).parent.parent / "fixtures" / "proc" / "self_mountinfo"

MOUNTINFO = r"""
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 21 7:0 / /var/lib/etcd rw,noatime - ext4 /dev/loop0 rw
31 21 0:40 / /var/lib/my\040data rw shared:5 master:2 - tmpfs tmpfs rw,size=64k
32 30 7:1 / /var/lib/etcd rw,noatime - xfs /dev/loop1 rw
short line
"""


def test_mountinfo_is_read_with_optional_fields_and_escapes() -> None:
    mounts = host_mounts.parse_mountinfo(MOUNTINFO)
    assert [mount.mountpoint for mount in mounts] == ["/", "/var/lib/etcd", "/var/lib/my data", "/var/lib/etcd"]
    assert mounts[0] == host_mounts.Mount("254:0", "/", "/", "ext4", "/dev/vda", "rw,discard", "rw,relatime")
    assert mounts[0].options == ("rw", "relatime", "discard")
    assert mounts[2].options == ("rw", "size=64k")


def test_mount_points_cannot_be_renamed(tmp_path: Path) -> None:
    """A symbolic link to one can. The folder above may be a link."""
    point, link, parent = tmp_path / "etcd", tmp_path / "link", tmp_path / "srv"
    point.mkdir()
    link.symlink_to(point)
    parent.symlink_to(tmp_path)
    mounts = host_mounts.parse_mountinfo(
        f"21 1 254:0 / {tmp_path} rw - ext4 /dev/vda rw\n22 21 254:0 /x {point} rw - ext4 /dev/vda rw"
    )
    paths = [str(point), str(link), f"{parent}/etcd/", f"{point}/data", str(point)]
    assert host_mounts.fixed_paths(paths, mounts) == [str(point), f"{parent}/etcd/"]


def test_mountinfo_escapes_and_noise() -> None:
    (only,) = host_mounts.parse_mountinfo("1 2 8:1 / /mnt/a\\040b rw - ext4 /dev/sd\\134a rw\nnoise\n1 2 3 - x\n")
    assert (only.mountpoint, only.source) == ("/mnt/a b", "/dev/sd\\a")


@pytest.mark.parametrize(
    ("path", "device"),
    [
        ("/", "254:0"),
        ("/var/lib/etcd", "7:1"),
        ("/var/lib/etcd/", "7:1"),
        ("/var/lib/etcd/data/member", "7:1"),
        ("/var/lib/etcd-wal", "254:0"),
        ("/var/lib/my data/x", "0:40"),
    ],
)
def test_the_last_and_deepest_mount_holds_a_path(path: str, device: str) -> None:
    found = host_mounts.mount_of(path, host_mounts.parse_mountinfo(MOUNTINFO))
    assert found is not None and found.device_number == device


@pytest.mark.parametrize(
    ("path", "mountpoint", "fstype"),
    [
        ("/var/lib/etcd/data", "/var/lib/etcd", "ext4"),
        ("/var/lib/etcd-wal/wal", "/", "overlay"),
        ("/var/lib/etcdother", "/", "overlay"),
        ("/", "/", "overlay"),
    ],
)
def test_captured_mounts(path: str, mountpoint: str, fstype: str) -> None:
    found = host_mounts.mount_of(path, host_mounts.parse_mountinfo(CAPTURED.read_text()))
    assert found is not None
    assert (found.mountpoint, found.fstype) == (mountpoint, fstype)


@pytest.mark.parametrize(("path", "device"), [("/var/lib/etcd/", "7:1"), ("/", "254:0"), ("/var/lib", None)])
def test_mounted_at_wants_the_very_mount_point(path: str, device: str | None) -> None:
    found = host_mounts.mounted_at(path, host_mounts.parse_mountinfo(MOUNTINFO))
    assert (found.device_number if found else None) == device


def test_this_process_has_mounts(tmp_path: Path) -> None:
    assert host_mounts.mount_of("/", host_mounts.read_mounts()) is not None
    assert host_mounts.read_mounts(str(tmp_path)) == []


def test_mounts_of_the_host_are_those_of_its_first_process(tmp_path: Path) -> None:
    for process, point in (("1", "/"), ("self", "/mnt/share")):
        (tmp_path / process).mkdir()
        (tmp_path / process / "mountinfo").write_text(f"21 1 254:0 / {point} rw - ext4 /dev/vda rw\n")
    assert [mount.mountpoint for mount in host_mounts.read_host_mounts(str(tmp_path))] == ["/"]
    (tmp_path / "1" / "mountinfo").unlink()
    assert [mount.mountpoint for mount in host_mounts.read_host_mounts(str(tmp_path))] == ["/mnt/share"]
