# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe block devices: the disks below them, their stable names, and the size of their filesystem.

Reads only. Sources: the superblocks of ext4 (kernel documentation, filesystems/ext4/super.html) and XFS (XFS Algorithms &
Data Structures, "Superblocks").
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import Mount
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import erase_list
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import neighbours as storage_neighbours

# Both superblocks lie within the first bytes of the device.
HEAD_BYTES = 4096
_EXT_SUPERBLOCK = 1024
_EXT_MAGIC = 0xEF53
_EXT_64BIT = 0x80
_XFS_IN_PROGRESS = 126

# Folders of names that survive a reboot, the preferred one first.
NAME_FOLDERS = ("by-id", "by-path", "by-uuid")


def filesystem_size(head: bytes, shown: int | None) -> int | None:
    """Return the size in bytes of an ext4 or XFS filesystem, None for any other content.

    ``head`` is the device's first HEAD_BYTES. ``shown`` is the size in bytes that statvfs reports if the filesystem is mounted:
    XFS does not update the superblock on the disk while mounted, so its size is then ``shown`` plus the log.
    """
    if len(head) < HEAD_BYTES:
        return None
    if head[:4] == b"XFSB":
        (block_size,), (blocks,) = struct.unpack_from(">I", head, 4), struct.unpack_from(">Q", head, 8)
        (log_start,), (log_blocks,) = struct.unpack_from(">Q", head, 48), struct.unpack_from(">I", head, 96)
        if shown is None:
            return int(blocks * block_size)
        return int(shown + (log_blocks * block_size if log_start else 0))
    (magic,) = struct.unpack_from("<H", head, _EXT_SUPERBLOCK + 0x38)
    if magic != _EXT_MAGIC:
        return None
    (low,), (log_size,) = (struct.unpack_from("<I", head, _EXT_SUPERBLOCK + offset) for offset in (0x4, 0x18))
    (features,), (high,) = (struct.unpack_from("<I", head, _EXT_SUPERBLOCK + offset) for offset in (0x60, 0x150))
    blocks = low + (high << 32 if features & _EXT_64BIT else 0)
    return int(blocks << (10 + log_size))


def was_mounted(head: bytes) -> bool | None:
    """Return whether an ext4 filesystem has ever been mounted, which its superblock records; None for any other content.

    A filesystem that was never mounted is empty. XFS does not record this.
    """
    if len(head) < HEAD_BYTES or struct.unpack_from("<H", head, _EXT_SUPERBLOCK + 0x38)[0] != _EXT_MAGIC:
        return None
    return bool(struct.unpack_from("<I", head, _EXT_SUPERBLOCK + 0x2C)[0])


def is_incomplete(head: bytes) -> bool:
    """Return whether mkfs.xfs was interrupted: it clears a flag in the superblock at its end, and the kernel mounts nothing before."""
    return len(head) == HEAD_BYTES and head[:4] == b"XFSB" and head[_XFS_IN_PROGRESS] != 0


def read_head(path: str) -> bytes:
    """Read the device's first HEAD_BYTES; empty if it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as stream:
            return stream.read(HEAD_BYTES)
    except OSError:
        return b""


def stable_links(node: str, folder: str = "/dev/disk") -> list[str]:
    """Return the links below /dev/disk that lead to a device node, the preferred one first."""
    found = []
    for kind in NAME_FOLDERS:
        try:
            names = sorted(os.listdir(os.path.join(folder, kind)))
        except OSError:
            continue
        paths = [os.path.join(folder, kind, name) for name in names]
        found += [path for path in paths if os.path.realpath(path) == os.path.realpath(node)]
    return found


def whole_disks(number: str, sysfs: str = "/sys") -> list[str]:
    """Return the kernel's names of the disks below a device number, through partitions, LVM, RAID and encryption.

    Empty if sysfs knows none, as with btrfs, ZFS, overlay and network filesystems.
    """
    facts = block_devices.queue_facts(number, sysfs)
    if facts["disk"] is None:
        return []
    # Only the disk of a partition has slaves, such as a RAID with partitions.
    below = [facts["disk"]] if facts["is_partition"] else facts["slaves"]
    found: set[str] = set()
    for name in below:
        try:
            with open(f"{sysfs}/class/block/{name}/dev", encoding="ascii") as stream:
                found.update(whole_disks(stream.read().strip(), sysfs))
        except OSError:
            continue
    return sorted(found) or [facts["disk"]]


def disk_facts(number: str, sysfs: str = "/sys", folder: str = "/dev/disk") -> list[dict[str, Any]]:
    """Describe each disk below a device: name, links (see stable_links), rotational, scheduler, schedulers."""
    found = []
    for name in whole_disks(number, sysfs):
        try:
            with open(f"{sysfs}/class/block/{name}/dev", encoding="ascii") as stream:
                queue = block_devices.queue_facts(stream.read().strip(), sysfs)
        except OSError:
            continue
        found.append(
            {
                "name": name,
                "links": stable_links(f"/dev/{name}", folder),
                **{key: queue[key] for key in ("rotational", "scheduler", "schedulers")},
            }
        )
    return found


def filesystem_and_disks(
    device: dict[str, Any], mounts: Sequence[Mount], neighbours: Sequence[storage_neighbours.Neighbour]
) -> dict[str, Any]:
    """Return what etcd_host_info adds to block_devices.device_facts: links, disks and neighbours, and what is known of its filesystem."""
    shown = None
    point = next((mount.mountpoint for mount in mounts if mount.device_number == device["number"]), None)
    if point is not None:
        room = os.statvfs(point)
        shown = room.f_blocks * room.f_frsize
    head = read_head(device["resolved"])
    return {
        "links": stable_links(device["resolved"]),
        "filesystem_size": filesystem_size(head, shown),
        "was_mounted": was_mounted(head),
        "incomplete": is_incomplete(head),
        "of_etcd": erase_list.is_volume_of_etcd(device),
        **disks_and_neighbours(device["number"], neighbours),
    }


def disks_and_neighbours(number: str | None, neighbours: Sequence[storage_neighbours.Neighbour]) -> dict[str, Any]:
    """Return the disks below a device number and the other services that write to them."""
    disks = disk_facts(number) if number else []
    return {"disks": disks, "neighbours": storage_neighbours.on_disks(neighbours, [disk["name"] for disk in disks])}
