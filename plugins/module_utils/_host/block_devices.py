# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Block devices and their mounts as Linux shows them. Private to the collection.

The parsers take text; what reads the machine takes the roots of sysfs and procfs, so that tests show it trees of
their own. Nothing here writes.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._host.device_content import Runner, content_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import (
    FstabEntry,
    entry_of,
    unmounted_entries,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import Mount, mount_of, mounted_at, unescape


def parse_swaps(text: str) -> list[str]:
    """Return the paths of the active swap areas in /proc/swaps."""
    return [unescape(line.split()[0]) for line in text.splitlines()[1:] if line.strip()]


def parse_scheduler(text: str) -> tuple[str | None, list[str]]:
    """Return the active I/O scheduler and the available ones: 'none [mq-deadline] kyber' -> ('mq-deadline', [...])."""
    names = text.split()
    active = next((name.strip("[]") for name in names if name.startswith("[")), None)
    if active is None and len(names) == 1:
        active = names[0]
    return active, [name.strip("[]") for name in names]


def _names(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def queue_facts(number: str, sysfs: str = "/sys") -> dict[str, Any]:
    """Return sysfs' facts about the disk with a device number ('7:0'); a partition has its disk's queue.

    Returns name, disk (the whole disk's name), is_partition, size (bytes), read_only, rotational, scheduler,
    schedulers, write_cache, partitions, holders and slaves; values that sysfs does not have are None or empty.
    """
    folder = os.path.realpath(os.path.join(sysfs, "dev/block", number))
    is_partition = os.path.exists(os.path.join(folder, "partition"))
    disk = os.path.dirname(folder) if is_partition else folder
    known = os.path.isdir(folder)
    sectors, rotational = read_text(f"{folder}/size").strip(), read_text(f"{disk}/queue/rotational").strip()
    active, schedulers = parse_scheduler(read_text(f"{disk}/queue/scheduler"))
    return {
        "name": os.path.basename(folder) if known else None,
        "disk": os.path.basename(disk) if known else None,
        "is_partition": is_partition,
        "size": int(sectors) * 512 if sectors.isdigit() else None,  # sysfs counts 512-byte sectors on every disk
        "read_only": read_text(f"{folder}/ro").strip() == "1",
        "rotational": rotational == "1" if rotational else None,
        "scheduler": active,
        "schedulers": schedulers,
        "write_cache": read_text(f"{disk}/queue/write_cache").strip() or None,
        "partitions": [name for name in _names(folder) if os.path.exists(f"{folder}/{name}/partition")],
        "holders": _names(f"{folder}/holders"),
        "slaves": _names(f"{folder}/slaves"),
    }


def _busy(path: str) -> bool:
    """Return whether the kernel uses the device: for a mount (in any namespace), device mapper, RAID or swap."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def mount_points(number: str, mounts: Sequence[Mount]) -> list[str]:
    """Return where the whole filesystem of a device is mounted, or, if it is nowhere, where a bind mount shows a folder of it."""
    found = [mount for mount in mounts if mount.device_number == number]
    return sorted({mount.mountpoint for mount in [mount for mount in found if mount.root == "/"] or found})


def device_facts(
    path: str, mounts: Sequence[Mount], swaps: Sequence[str], run: Runner, sysfs: str = "/sys"
) -> dict[str, Any]:
    """Return all facts that decide whether a device may become etcd's volume.

    exists and is_block are always there; the rest only for a block device. The keys are documented in
    etcd_host_info's RETURN.
    """
    resolved = os.path.realpath(path)
    facts: dict[str, Any] = {"path": path, "resolved": resolved, "exists": os.path.exists(resolved), "is_block": False}
    if not facts["exists"]:
        return facts
    status = os.stat(resolved)
    if not stat.S_ISBLK(status.st_mode):
        return facts
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    facts.update(queue_facts(number, sysfs))
    facts.update(
        is_block=True,
        number=number,
        **content_facts(resolved, run),
        mounted_at=mount_points(number, mounts),
        swap=resolved in [os.path.realpath(swap) for swap in swaps],
        busy=_busy(resolved),
    )
    return facts


def mount_facts(path: str, mounts: Sequence[Mount], fstab: Sequence[FstabEntry]) -> dict[str, Any]:
    """Return what is mounted at a path, its free space, and its entries in fstab.

    The keys are documented in etcd_host_info's RETURN.
    """
    # The mount table has resolved paths; fstab may have unresolved ones.
    point = os.path.realpath(path)
    here, under = mounted_at(point, mounts), mount_of(point, mounts)
    entry = entry_of(path, fstab, mounts)
    facts: dict[str, Any] = {
        "path": path,
        "resolved": point,
        "exists": os.path.isdir(point),
        "mounted": here is not None,
        "entries": len(_names(point)),
        "covered_by": under.mountpoint if under else None,
        "number": under.device_number if under else None,
        "source": under.source if under else None,
        "fstype": under.fstype if under else None,
        "options": list(under.options) if under else [],
        "size": None,
        "available": None,
        "mode": None,
        "uid": None,
        "fstab": vars(entry) if entry else None,
        "unmounted": [vars(item) for item in unmounted_entries(point, fstab, mounts)],
    }
    if facts["exists"]:
        status, room = os.stat(point), os.statvfs(point)
        facts["mode"], facts["uid"] = f"{stat.S_IMODE(status.st_mode):04o}", status.st_uid
        facts["size"], facts["available"] = room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize
    return facts


def read_swaps(proc: str = "/proc") -> list[str]:
    """Return the active swap areas."""
    return parse_swaps(read_text(f"{proc}/swaps"))
