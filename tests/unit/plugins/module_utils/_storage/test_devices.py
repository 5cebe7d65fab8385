# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of filesystems, disks below devices, and stable names."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import devices

GIB = 1024**3


def ext4(blocks: int, *, wide: bool = False) -> bytes:
    """The head of a device with an ext4 filesystem of blocks of 4 KiB."""
    head = bytearray(devices.HEAD_BYTES)
    struct.pack_into("<I", head, 1024 + 0x4, blocks & 0xFFFFFFFF)
    struct.pack_into("<I", head, 1024 + 0x18, 2)
    struct.pack_into("<H", head, 1024 + 0x38, 0xEF53)
    struct.pack_into("<I", head, 1024 + 0x60, 0x80 if wide else 0)
    struct.pack_into("<I", head, 1024 + 0x150, blocks >> 32)
    return bytes(head)


def xfs(blocks: int, log_blocks: int, *, external: bool = False) -> bytes:
    """The head of a device with an XFS filesystem of blocks of 4 KiB."""
    head = bytearray(devices.HEAD_BYTES)
    head[:4] = b"XFSB"
    struct.pack_into(">I", head, 4, 4096)
    struct.pack_into(">Q", head, 8, blocks)
    struct.pack_into(">Q", head, 48, 0 if external else 1 << 20)
    struct.pack_into(">I", head, 96, log_blocks)
    return bytes(head)


@pytest.mark.parametrize(
    ("head", "shown", "size"),
    [
        (ext4(262144), None, GIB),
        (ext4(262144), GIB - 30000000, GIB),
        (ext4(1 << 33, wide=True), None, 1 << 45),
        (ext4(1 << 33), None, 0),
        (xfs(262144, 2560), None, GIB),
        # Mounted, the superblock on the disk may be an old one.
        (xfs(262144, 2560), 2 * GIB - 2560 * 4096, 2 * GIB),
        (xfs(262144, 2560, external=True), 2 * GIB, 2 * GIB),
        (bytes(devices.HEAD_BYTES), None, None),
        (b"", None, None),
    ],
)
def test_filesystem_size(head: bytes, shown: int | None, size: int | None) -> None:
    assert devices.filesystem_size(head, shown) == size


def test_an_ext4_filesystem_records_whether_it_was_mounted() -> None:
    used = bytearray(ext4(262144))
    struct.pack_into("<I", used, 1024 + 0x2C, 1795915311)
    assert (devices.was_mounted(ext4(262144)), devices.was_mounted(bytes(used))) == (False, True)
    # XFS has nothing of the kind.
    assert devices.was_mounted(xfs(262144, 2560)) is None
    assert devices.was_mounted(bytes(devices.HEAD_BYTES)) is None and devices.was_mounted(b"") is None


def test_xfs_filesystem_whose_mkfs_was_interrupted() -> None:
    begun = bytearray(xfs(262144, 2560))
    begun[126] = 1
    assert (devices.is_incomplete(bytes(begun)), devices.is_incomplete(xfs(262144, 2560))) == (True, False)
    assert not devices.is_incomplete(ext4(262144)) and not devices.is_incomplete(b"XFSB")


@pytest.fixture(name="sysfs")
def sysfs_tree(tmp_path: Path) -> Path:
    """A logical volume (253:0) on a partition of vdb (254:17) and on the disk vdc (254:32), and a RAID of both disks with a partition (259:3)."""
    block = tmp_path / "devices/block"
    disks = {"vdb": "254:16", "vdb/vdb1": "254:17", "vdc": "254:32"}
    for name, number in {**disks, "dm-0": "253:0", "md126": "9:126", "md126/md126p3": "259:3"}.items():
        (block / name / "queue").mkdir(parents=True)
        (block / name / "dev").write_text(f"{number}\n")
        (block / name / "queue/rotational").write_text("1\n")
        (block / name / "queue/scheduler").write_text("none [mq-deadline]\n")
        for folder, link in (("dev/block", number), ("class/block", Path(name).name)):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            os.symlink(block / name, tmp_path / folder / link)
    (block / "vdb/vdb1/partition").write_text("1\n")
    (block / "md126/md126p3/partition").write_text("3\n")
    for disk in ("vdb", "vdc"):
        (block / "md126/slaves" / disk).mkdir(parents=True)
    for slave in ("vdb1", "vdc"):
        (block / "dm-0/slaves" / slave).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("number", "disks"),
    [("254:16", ["vdb"]), ("254:17", ["vdb"]), ("253:0", ["vdb", "vdc"]), ("259:3", ["vdb", "vdc"]), ("0:42", [])],
)
def test_disks_below_partitions_lvm_and_raid(sysfs: Path, number: str, disks: list[str]) -> None:
    assert devices.whole_disks(number, str(sysfs)) == disks


def test_disk_facts(sysfs: Path) -> None:
    (disk,) = devices.disk_facts("254:17", str(sysfs), "/no/such/folder")
    assert disk == {
        "name": "vdb",
        "links": [],
        "rotational": True,
        "scheduler": "mq-deadline",
        "schedulers": ["none", "mq-deadline"],
    }


def test_stable_links_in_order_of_preference(tmp_path: Path) -> None:
    node = tmp_path / "vdb"
    node.touch()
    for kind, name in (("by-uuid", "5c14"), ("by-id", "virtio-2"), ("by-id", "virtio-1"), ("by-label", "x")):
        (tmp_path / "disk" / kind).mkdir(parents=True, exist_ok=True)
        os.symlink(node, tmp_path / "disk" / kind / name)
    os.symlink(tmp_path / "vdc", tmp_path / "disk/by-id/other")
    folder = str(tmp_path / "disk")
    assert devices.stable_links(str(node), folder) == [
        f"{folder}/by-id/virtio-1",
        f"{folder}/by-id/virtio-2",
        f"{folder}/by-uuid/5c14",
    ]


@pytest.mark.parametrize(
    ("label", "of_etcd"), [("etcd-data", True), ("etcd-wal", True), ("precious", False), (None, False)]
)
def test_a_volume_of_etcd_is_known_by_its_label(tmp_path: Path, label: str | None, of_etcd: bool) -> None:
    device = {"number": "254:16", "resolved": str(tmp_path / "missing"), "label": label}
    assert devices.filesystem_and_disks(device, [], [])["of_etcd"] is of_etcd
