# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies below a block device and on it: whole disks, names that last, the filesystem's size. Private to the collection.

Sources: the superblocks of ext4 (kernel documentation, filesystems/ext4/super.html) and XFS (XFS Algorithms & Data
Structures, "Superblocks"). Nothing here writes.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import Mount
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import neighbours as storage_neighbours

# Where the superblocks are, all within this many bytes of the device's beginning.
HEAD_BYTES = 4096
_EXT_SUPERBLOCK = 1024
_EXT_MAGIC = 0xEF53
_EXT_64BIT = 0x80

# Names that mean the same device after a reboot, in the order in which they are preferred.
NAME_FOLDERS = ("by-id", "by-path", "by-uuid")


def filesystem_size(head: bytes, shown: int | None) -> int | None:
    """Size in bytes that an ext4 or XFS filesystem has given itself, None for anything else.

    head: the device's first HEAD_BYTES. shown: what statvfs says of the mounted filesystem, in bytes. XFS keeps its
    superblock to itself while it is mounted, so there the size is what is shown and the log, which is not.
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


def read_head(path: str) -> bytes:
    """The device's first HEAD_BYTES, nothing where it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as stream:
            return stream.read(HEAD_BYTES)
    except OSError:
        return b""


def lasting_names(node: str, folder: str = "/dev/disk") -> list[str]:
    """The names below /dev/disk that lead to a device node and mean it after a reboot too, the preferred one first."""
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
    """The kernel's names of the disks under a device number: below partitions, LVM, RAID and encryption.

    Empty where sysfs knows none, as for btrfs, ZFS, overlay and network filesystems.
    """
    facts = block_devices.queue_facts(number, sysfs)
    if facts["disk"] is None:
        return []
    found: set[str] = set()
    for slave in facts["slaves"]:
        try:
            with open(f"{sysfs}/class/block/{slave}/dev", encoding="ascii") as stream:
                found.update(whole_disks(stream.read().strip(), sysfs))
        except OSError:
            continue
    return sorted(found) or [facts["disk"]]


def disk_facts(number: str, sysfs: str = "/sys", folder: str = "/dev/disk") -> list[dict[str, Any]]:
    """For each disk below a device: name, links (lasting_names), rotational, scheduler, schedulers."""
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
                "links": lasting_names(f"/dev/{name}", folder),
                **{key: queue[key] for key in ("rotational", "scheduler", "schedulers")},
            }
        )
    return found


def more_of_device(
    device: dict[str, Any], mounts: Sequence[Mount], neighbours: Sequence[storage_neighbours.Neighbour]
) -> dict[str, Any]:
    """What is added to block_devices.device_facts of a block device: links, disks, filesystem_size and neighbours."""
    shown = None
    point = next((mount.mountpoint for mount in mounts if mount.device_number == device["number"]), None)
    if point is not None:
        room = os.statvfs(point)
        shown = room.f_blocks * room.f_frsize
    return {
        "links": lasting_names(device["resolved"]),
        "filesystem_size": filesystem_size(read_head(device["resolved"]), shown),
        **below(device["number"], neighbours),
    }


def below(number: str | None, neighbours: Sequence[storage_neighbours.Neighbour]) -> dict[str, Any]:
    """The disks under a device number, and who else writes to these."""
    disks = disk_facts(number) if number else []
    return {"disks": disks, "neighbours": storage_neighbours.on_disks(neighbours, [disk["name"] for disk in disks])}
