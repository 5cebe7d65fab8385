# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must happen to give etcd its volumes, and everything that forbids it. Private to the collection.

Decides from what etcd_host_info saw; pure. The rule above all others: a device that carries anything is never
formatted. Ours is what is mounted at our mount point, or carries our label and the filesystem asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

FILESYSTEMS = ("ext4", "xfs")

# mkfs.xfs refuses less than 300 MiB since xfsprogs 5.19.
MKFS_OPTIONS = {
    # 1 % reserved for root instead of 5 %: nobody but etcd writes here, and it does not run as root.
    "ext4": "-m 1 -L {label}",
    "xfs": "-L {label}",
}

# fsck at boot, after the root filesystem; xfs replays its log at the mount and has no such check.
PASS_NUMBER = {"ext4": "2", "xfs": "0"}

STABLE_NAMES = ("/dev/disk/by-id/", "/dev/disk/by-path/", "/dev/disk/by-uuid/", "/dev/mapper/")


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _foreign(volume: Mapping[str, Any], device: Mapping[str, Any]) -> str | None:
    """Why a signature on the device is not our filesystem; None if it is, or if there is none."""
    if device["signature"] is None:
        return None
    name, variable = volume["device"], f"etcd_storage_{volume['name']}_device"
    label = f" with the label '{device['label']}'" if device["label"] else ""
    found = f"{name} is not blank ({device['signature']}{label})"
    if device["fstype"] not in FILESYSTEMS:
        return f"{found}: nothing is ever formatted over. Name a blank device in {variable}."
    if device["fstype"] != volume["fstype"] and (device["label"] == volume["label"] or device["mounted_at"]):
        return f"{found}, but etcd_storage_fstype is {volume['fstype']}: set it to {device['fstype']}."
    if volume["mount"] in device["mounted_at"] or device["label"] == volume["label"]:
        return None
    return (
        f"{found} and not ours, which has the label '{volume['label']}': nothing is ever formatted over. "
        f"If its contents are not needed, run 'wipefs -a {name}' on the host, or name another device in {variable}."
    )


def _users(device: Mapping[str, Any]) -> list[str]:
    """Who else has the device."""
    users = [f"carries partitions ({', '.join(device['partitions'])})"] if device["partitions"] else []
    if device["holders"]:
        users.append(f"is held by {', '.join(device['holders'])} (LVM, RAID or encryption)")
    if device["swap"]:
        users.append("is used as swap")
    if device["busy"] and not (users or device["mounted_at"]):
        users.append("is in use, perhaps mounted in a container")
    return users


def _device_problem(volume: Mapping[str, Any], device: Mapping[str, Any]) -> str | None:
    """What forbids the use of the device; the first finding usually explains the rest, so only that is told."""
    name, variable = volume["device"], f"etcd_storage_{volume['name']}_device"
    if not device["exists"]:
        return f"{name} does not exist on this host: see 'ls -l /dev/disk/by-id' there and correct {variable}."
    if not device["is_block"]:
        return f"{name} is no block device: name a disk, a partition or a logical volume in {variable}."
    elsewhere = [point for point in device["mounted_at"] if point != volume["mount"]]
    if elsewhere:
        return (
            f"{name} is mounted at {', '.join(elsewhere)}, not at {volume['mount']}: "
            f"unmount it there, or name another device in {variable}."
        )
    users = _users(device)
    if users:
        return f"{name} {' and '.join(users)}: name a device in {variable} that nobody uses."
    if device["probe_error"]:
        return f"{name} {device['probe_error']}: whether it is blank cannot be told, so it is not touched."
    foreign = _foreign(volume, device)
    if foreign:
        return foreign
    if device["read_only"]:
        return f"{name} is read-only: make it writable, or name another device in {variable}."
    if device["size"] < volume["min_size"]:
        return (
            f"{name} has {device['size'] >> 20} MiB, less than the {volume['min_size'] >> 20} MiB of "
            f"etcd_storage_{volume['name']}_min_size: take a larger device, or lower the limit."
        )
    return None


def _mount_problem(volume: Mapping[str, Any], mount: Mapping[str, Any], number: str | None) -> str | None:
    """What forbids the mount point."""
    if mount["mounted"] and mount["number"] != number:
        return (
            f"{mount['source']} is mounted at {volume['mount']}, not {volume['device']}: "
            f"unmount it, or correct etcd_storage_{volume['name']}_device."
        )
    if not mount["mounted"] and mount["entries"]:
        return (
            f"{volume['mount']} is not empty ({mount['entries']} entries): a volume mounted there would hide them. "
            "Move them away, or onto the volume, first."
        )
    return None


def _source(volume: Mapping[str, Any], device: Mapping[str, Any], entry: Mapping[str, str] | None) -> str:
    """How fstab names the device: as it does already, by the stable name given, or by its UUID.

    Names such as /dev/sdb are dealt out anew at each boot and never written to fstab.
    """
    uuid, label = device.get("uuid"), device.get("label")
    if entry and entry["source"] in (f"UUID={uuid}", f"LABEL={label}"):
        return entry["source"]
    if volume["device"].startswith(STABLE_NAMES):
        return str(volume["device"])
    return f"UUID={uuid}" if uuid else "UUID=(made with the filesystem)"


def _volume_plan(volume: Mapping[str, Any], device: Mapping[str, Any], mount: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be done for one volume without problems."""
    entry, source = mount["fstab"], _source(volume, device, mount["fstab"])
    wanted = (source, volume["fstype"], ",".join(volume["options"]), PASS_NUMBER[volume["fstype"]])
    present = entry and (entry["source"], entry["fstype"], entry["options"], entry["passno"])
    return {
        **volume,
        "format": device["signature"] is None,
        "mkfs_options": MKFS_OPTIONS[volume["fstype"]].format(label=volume["label"]),
        "source": source,
        "passno": PASS_NUMBER[volume["fstype"]],
        "mounted": mount["mounted"],
        "attach": not mount["mounted"] or present != wanted,
        "secure": not mount["mounted"] or (mount["mode"], mount["uid"]) != ("0755", 0),
    }


def _wal_problem(host: Mapping[str, Any], data_dir: str, wal_dir: str) -> str | None:
    """A member whose WAL is not where etcd would look for it would start without its own history."""
    expected = wal_dir or f"{data_dir}/member/wal"
    found = [folder for folder in host.get("member", {}).get("wal_dirs", []) if folder != expected]
    if not found:
        return None
    return (
        f"the member's WAL is in {', '.join(found)}, but etcd would be told to look in {expected}. "
        "Stop the member, move the files there and keep owner and mode, or take the setting back."
    )


def _setting_problem(volume: Mapping[str, Any]) -> str | None:
    """A setting that no device could make right."""
    if not _below(volume["directory"], volume["mount"]):
        return (
            f"{volume['directory']}, which etcd owns, is not below the mount point {volume['mount']}: etcd could write "
            f"to an unmounted volume's empty folder. Correct etcd_{volume['name']}_dir or "
            f"etcd_storage_{volume['name']}_mount."
        )
    if volume["fstype"] not in FILESYSTEMS:
        return f"etcd_storage_fstype is '{volume['fstype']}', but must be one of {', '.join(FILESYSTEMS)}."
    return None


def plan(
    host: Mapping[str, Any], volumes: Sequence[Mapping[str, Any]], data_dir: str, wal_dir: str = ""
) -> dict[str, Any]:
    """What to do with the volumes, and all problems that forbid it.

    `host` is what etcd_host_info returned, asked for each volume's device and mount. Each volume has name, device
    (empty: nothing is formatted or mounted), mount, directory, label, fstype, options (list), min_size (bytes).
    Returns `problems` (sentences), and `volumes`: those with a device and without problems, with format, attach and
    secure (bool: is there anything to do), source, passno and mkfs_options.
    """
    problems = [_wal_problem(host, data_dir, wal_dir)]
    planned = []
    devices: dict[str, str] = {}
    points: dict[str, str] = {}
    for volume in volumes:
        name, point = volume["name"], volume["mount"]
        problem = _setting_problem(volume)
        if point in points:
            problem = f"the {points[point]} volume and the {name} volume have one mount point, {point}: give them two."
        points.setdefault(point, name)
        if volume["device"] and not problem:
            device, mount = host["devices"][volume["device"]], host["mounts"][point]
            number = device.get("number")
            problem = _device_problem(volume, device) or _mount_problem(volume, mount, number)
            if number in devices:
                problem = (
                    f"{volume['device']} is the {devices[number]} volume and the {name} volume at once "
                    f"({device['resolved']}): leave etcd_storage_wal_device empty, or name two devices."
                )
            elif number:
                devices[number] = name
            if not problem:
                planned.append(_volume_plan(volume, device, mount))
        problems.append(problem)
    return {"problems": [problem for problem in problems if problem], "volumes": planned}
