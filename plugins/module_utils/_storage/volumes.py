# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan etcd's volumes: format, grow and mount. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._storage import erase_list, volume_problems, wal_plan

# mkfs.xfs refuses less than 300 MiB since xfsprogs 5.19.
MKFS_OPTIONS = {
    # 1 % reserved for root instead of 5 %: only etcd writes here, and not as root. One inode per MiB: etcd has tens of
    # files, and mkfs can write so few tables at once instead of in the background during etcd's first minutes. Read-only
    # after an error: a member that stops is better than one that continues on a damaged filesystem.
    "ext4": "-m 1 -i 1048576 -E lazy_itable_init=0 -e remount-ro -L {label}",
    "xfs": "-L {label}",
}

# ext4: fsck at boot, after the root filesystem. xfs replays its log when mounted and has no fsck at boot.
PASS_NUMBER = {"ext4": "2", "xfs": "0"}

STABLE_NAMES = ("/dev/disk/by-id/", "/dev/disk/by-path/", "/dev/disk/by-uuid/", "/dev/mapper/")
# Block groups and allocation groups leave less than this unused at the end of a device.
MIN_GROWTH_BYTES = 16 << 20


def _source(volume: Mapping[str, Any], device: Mapping[str, Any], entry: Mapping[str, str] | None) -> str:
    """Return the device's name for fstab: the one that is there, the stable name given, or its UUID.

    Never a kernel name such as /dev/sdb, which may change at boot.
    """
    uuid, label = device.get("uuid"), device.get("label")
    if entry and entry["source"] in (f"UUID={uuid}", f"LABEL={label}"):
        return entry["source"]
    if volume["device"].startswith(STABLE_NAMES):
        return str(volume["device"])
    return f"UUID={uuid}" if uuid else "UUID=(made with the filesystem)"


def _volume_plan(
    volume: Mapping[str, Any], device: Mapping[str, Any], mount: Mapping[str, Any], erase: Sequence[str]
) -> dict[str, Any]:
    """Return the plan of a volume without problems."""
    has_other_content = volume_problems.content_problem(volume, device) is not None
    size = device.get("filesystem_size")
    entry, source = mount["fstab"], _source(volume, {} if has_other_content else device, mount["fstab"])
    wanted = (source, volume["fstype"], ",".join(volume["options"]), PASS_NUMBER[volume["fstype"]])
    present = entry and (entry["source"], entry["fstype"], entry["options"], entry["passno"])
    return {
        **volume,
        "erase": erase_list.permitting_entry(device, erase) if has_other_content else None,
        "format": has_other_content or erase_list.content_of(device) is None,
        "grow": not has_other_content and size is not None and device["size"] - size >= MIN_GROWTH_BYTES,
        "gain": max(0, device["size"] - size) if size is not None and not has_other_content else 0,
        "mkfs_options": MKFS_OPTIONS[volume["fstype"]].format(label=volume["label"]),
        "source": source,
        "passno": PASS_NUMBER[volume["fstype"]],
        "mounted": mount["mounted"],
        "attach": not mount["mounted"] or present != wanted,
        "secure": not mount["mounted"] or (mount["mode"], mount["uid"]) != ("0755", 0),
    }


def _check_and_plan(
    host: Mapping[str, Any], volume: Mapping[str, Any], erase: Sequence[str], devices: dict[str, str]
) -> tuple[str | None, dict[str, Any] | None]:
    """Return the problem of a volume with a device, or its plan. devices: the volumes by their devices' numbers, to which this one is added."""
    device, mount = host["devices"][volume["device"]], host["mounts"][volume["mount"]]
    number = device.get("number")
    problem = (
        volume_problems.mount_point_problem(volume, mount)
        or volume_problems.device_problem(volume, device, erase)
        or volume_problems.mount_problem(volume, mount, number)
    )
    if number in devices:
        problem = (
            f"{volume['device']} is both the {devices[number]} volume and the {volume['name']} volume "
            f"({device['resolved']}): leave etcd_storage_wal_device empty, or name two devices."
        )
    elif number:
        devices[number] = volume["name"]
    if problem:
        return problem, None
    plan = _volume_plan(volume, device, mount, erase)
    problem = volume_problems.fstab_problem(volume, mount, plan["source"]) if plan["attach"] else None
    return problem, None if problem else plan


def plan_volumes(
    host: Mapping[str, Any],
    volumes: Sequence[Mapping[str, Any]],
    data_dir: str,
    wal_dir: str = "",
    erase: Sequence[str] = (),
    *,
    restoring: bool = False,
    recovery: str | None = None,
) -> dict[str, Any]:
    """Plan the volumes and return all problems that forbid the plan.

    ``host`` is the result of etcd_host_info for each volume's device and mount point. Each volume has name, device (empty:
    format and mount nothing), mount, directory, label, fstype, options (list, or a text as in fstab) and min_size (bytes, or with a unit). ``erase``
    names devices whose content may be destroyed. With ``restoring``, the member's log does not matter, because a restore or another
    member's data replaces it. ``recovery`` is for wal_plan.wal_problem.
    Returns ``problems`` (sentences); ``volumes``, those with a device and without problems, with format, grow, attach and
    secure (bool: whether to do so), erase (the name that allows it, or None), gain (bytes added by growing), source, passno
    and mkfs_options; and ``wal_move``, as wal_plan.pending_wal_move returns it.
    """
    problems = [erase_list.list_problem(erase), volume_problems.nesting_problem(volumes)]
    planned: list[dict[str, Any]] = []
    devices: dict[str, str] = {}
    points: dict[str, str] = {}
    for given in volumes:
        volume = {**given, "options": volume_problems.mount_options(given["options"])}
        name, point = volume["name"], volume["mount"]
        problem = volume_problems.setting_problem(volume)
        if point in points:
            problem = f"the {points[point]} volume and the {name} volume have the same mount point, {point}: set two."
        points.setdefault(point, name)
        if volume["device"] and not problem:
            problem, plan = _check_and_plan(host, volume, erase, devices)
            planned += [plan] if plan else []
        problems.append(problem or volume_problems.filesystem_problem(volume, host.get("mounts", {}).get(point, {})))
    unchanged = [plan for plan in planned if not plan["format"]]
    if not restoring and not any(problems) and not volume_problems.has_unmounted_content(host, unchanged):
        blank = next((plan["device"] for plan in planned if plan["name"] == "data" and plan["format"]), "")
        problems.append(wal_plan.wal_problem(host, data_dir, wal_dir, recovery, blank))
    return {
        "problems": [problem for problem in problems if problem],
        "volumes": planned,
        "wal_move": {} if restoring else wal_plan.pending_wal_move(host, data_dir, wal_dir),
    }
