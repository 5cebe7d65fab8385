# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must happen to give etcd its volumes, and everything that forbids it. Private to the collection.

Decides from what etcd_host_info saw; pure. The rule above all others: a device that carries anything is never
formatted, unless its exact id was repeated in etcd_storage_erase_devices; and then only while nobody uses it. Ours is
what is mounted at our mount point, or carries our label and the filesystem asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size

FILESYSTEMS = ("ext4", "xfs")

# mkfs.xfs refuses less than 300 MiB since xfsprogs 5.19.
MKFS_OPTIONS = {
    # 1 % reserved for root instead of 5 %: nobody but etcd writes here, and it does not run as root. An inode for each
    # MiB: etcd has tens of files; so few tables are written at once, not beside etcd in its first minutes. After an
    # error in the filesystem no more writes: a member that stops is better than one that goes on with what is left.
    "ext4": "-m 1 -i 1048576 -E lazy_itable_init=0 -e remount-ro -L {label}",
    "xfs": "-L {label}",
}

# fsck at boot, after the root filesystem; xfs replays its log at the mount and has no such check.
PASS_NUMBER = {"ext4": "2", "xfs": "0"}

STABLE_NAMES = ("/dev/disk/by-id/", "/dev/disk/by-path/", "/dev/disk/by-uuid/", "/dev/mapper/")
# A device that is to be erased is named by what it is, not by where it happens to be.
ERASE_NAMES = ("/dev/disk/by-id/", "/dev/disk/by-path/", "UUID=")

# Less than this at the end of a device is what block groups and allocation groups leave over.
GROWTH_LEAST = 16 << 20

# Mount options that undo what etcd relies on, with the reason.
UNFIT_OPTIONS = {
    "ro": "etcd could not write",
    "noauto": "the volume would be missing after a reboot",
    "nobarrier": "writes that etcd has acknowledged would be lost with the power",
    "barrier=0": "writes that etcd has acknowledged would be lost with the power",
    "norecovery": "a filesystem that was not unmounted would be mounted as it is",
    "noload": "a filesystem that was not unmounted would be mounted as it is",
}


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def erasable(device: Mapping[str, Any], erase: Sequence[str]) -> str | None:
    """The name in etcd_storage_erase_devices that means this device, None if there is none."""
    uuid = device.get("uuid")
    return next((name for name in erase if name in device.get("links", []) or (uuid and name == f"UUID={uuid}")), None)


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
        f"If its contents are not needed, repeat its id in etcd_storage_erase_devices ({_erase_hint(device)}), or name "
        f"another device in {variable}."
    )


def _erase_hint(device: Mapping[str, Any]) -> str:
    """A name that etcd_storage_erase_devices takes; a filesystem's own is gone with it, so that it erases once."""
    names = [f"UUID={device['uuid']}"] if device.get("uuid") else []
    names += [name for name in device.get("links", []) if name.startswith(ERASE_NAMES)]
    return names[0] if names else "it has none below /dev/disk: run wipefs on the host"


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


def _device_problem(volume: Mapping[str, Any], device: Mapping[str, Any], erase: Sequence[str]) -> str | None:
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
        return (
            f"{name} {device['probe_error']}: whether it is blank cannot be told, so it is not touched. "
            "Become root (become: true), or exchange the disk."
        )
    foreign = _foreign(volume, device)
    if foreign and (device["busy"] or device["mounted_at"] or not erasable(device, erase)):
        return foreign
    if foreign and name.startswith("/dev/disk/by-uuid/"):
        return (
            f"{name} goes with the filesystem that is to be erased: name the device by /dev/disk/by-id in {variable}."
        )
    if device["read_only"]:
        return f"{name} is read-only: make it writable, or name another device in {variable}."
    return _size_problem(volume, device)


def _size_problem(volume: Mapping[str, Any], device: Mapping[str, Any]) -> str | None:
    """Whether the device is too small, or smaller than the filesystem that it carries."""
    name, needed = volume["device"], parse_size(volume["min_size"], f"etcd_storage_{volume['name']}_min_size")
    if device["size"] < needed:
        return (
            f"{name} has {device['size'] >> 20} MiB, less than the {needed >> 20} MiB of "
            f"etcd_storage_{volume['name']}_min_size: take a larger device, or lower the limit."
        )
    if (device.get("filesystem_size") or 0) > device["size"]:
        return (
            f"{name} has {format_size(device['size'])}, but its filesystem was made for "
            f"{format_size(device['filesystem_size'])}: the device shrank. Give it its size back before anything else."
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


def _volume_plan(
    volume: Mapping[str, Any], device: Mapping[str, Any], mount: Mapping[str, Any], erase: Sequence[str]
) -> dict[str, Any]:
    """What is to be done for one volume without problems."""
    foreign = _foreign(volume, device) is not None
    size = device.get("filesystem_size")
    entry, source = mount["fstab"], _source(volume, {} if foreign else device, mount["fstab"])
    wanted = (source, volume["fstype"], ",".join(volume["options"]), PASS_NUMBER[volume["fstype"]])
    present = entry and (entry["source"], entry["fstype"], entry["options"], entry["passno"])
    return {
        **volume,
        "erase": erasable(device, erase) if foreign else None,
        "format": device["signature"] is None or foreign,
        "grow": not foreign and size is not None and device["size"] - size >= GROWTH_LEAST,
        "gain": max(0, device["size"] - size) if size is not None and not foreign else 0,
        "mkfs_options": MKFS_OPTIONS[volume["fstype"]].format(label=volume["label"]),
        "source": source,
        "passno": PASS_NUMBER[volume["fstype"]],
        "mounted": mount["mounted"],
        "attach": not mount["mounted"] or present != wanted,
        "secure": not mount["mounted"] or (mount["mode"], mount["uid"]) != ("0755", 0),
    }


def wal_move(host: Mapping[str, Any], data_dir: str, wal_dir: str) -> dict[str, Any]:
    """The move of the member's log that has to happen in its turn, or that one has left something behind.

    Returns source, target and pending (whether it is still to be moved); empty if there is nothing to do.
    """
    member = host.get("member", {})
    target = wal_dir or f"{data_dir}/member/wal"
    dirs, asides = member.get("wal_dirs", []), [path for path in member.get("wal_asides", []) if path != target]
    sources = [path for path in dirs if path != target] or asides[:1]
    if not sources or (len(dirs) > 1 and target in dirs):
        return {}
    return {"source": sources[0], "target": target, "pending": target not in dirs}


def _wal_problem(host: Mapping[str, Any], data_dir: str, wal_dir: str) -> str | None:
    """A member whose WAL is not where etcd would look for it would start without its own history."""
    member = host.get("member", {})
    dirs, target = member.get("wal_dirs", []), wal_dir or f"{data_dir}/member/wal"
    if len(dirs) > 1:
        return (
            f"the member has a write-ahead log in each of {', '.join(dirs)}: find out which one it wrote last "
            "(ls -l --time-sort), and move the others away."
        )
    if member.get("db_size") is not None and not dirs and not member.get("wal_asides"):
        return (
            f"the member has a database in {data_dir}, but no write-ahead log in {target}: it would start without its "
            "history. Mount the volume that holds the log; if the log is lost, remove the member from the cluster, empty "
            f"{data_dir}, and add it anew."
        )
    return None


def _hidden(host: Mapping[str, Any], volumes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a volume that carries something is not mounted yet, so that what lies on it cannot be seen."""
    return any(
        volume["device"]
        and host["devices"][volume["device"]].get("signature") is not None
        and not host["mounts"][volume["mount"]]["mounted"]
        for volume in volumes
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
    unfit = [option for option in volume["options"] if option in UNFIT_OPTIONS]
    if unfit:
        return f"etcd_storage_mount_options has {unfit[0]}: {UNFIT_OPTIONS[unfit[0]]}. Leave it out."
    try:
        parse_size(volume["min_size"], f"etcd_storage_{volume['name']}_min_size")
    except ValueError as problem:
        return f"{problem}."
    return None


def _erase_problem(erase: Sequence[str]) -> str | None:
    """A name that may mean another device after the next boot is none by which to erase."""
    unsafe = [name for name in erase if not name.startswith(ERASE_NAMES)]
    if not unsafe:
        return None
    return (
        f"etcd_storage_erase_devices has {unsafe[0]}, which may be another device after the next boot: name it by "
        "/dev/disk/by-id/…, /dev/disk/by-path/… or UUID=…."
    )


def plan(
    host: Mapping[str, Any],
    volumes: Sequence[Mapping[str, Any]],
    data_dir: str,
    wal_dir: str = "",
    erase: Sequence[str] = (),
) -> dict[str, Any]:
    """What to do with the volumes, and all problems that forbid it.

    `host` is what etcd_host_info returned, asked for each volume's device and mount. Each volume has name, device
    (empty: nothing is formatted or mounted), mount, directory, label, fstype, options (list), min_size (bytes, or with
    a unit). `erase` names devices whose contents may be destroyed.
    Returns `problems` (sentences); `volumes`, those with a device and without problems, with format, grow, attach and
    secure (bool: is there anything to do), erase (the name that allows it, or None), gain (bytes that growing gives),
    source, passno and mkfs_options; and `wal_move` (see there).
    """
    problems = [_erase_problem(erase)]
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
            problem = _device_problem(volume, device, erase) or _mount_problem(volume, mount, number)
            if number in devices:
                problem = (
                    f"{volume['device']} is the {devices[number]} volume and the {name} volume at once "
                    f"({device['resolved']}): leave etcd_storage_wal_device empty, or name two devices."
                )
            elif number:
                devices[number] = name
            if not problem:
                planned.append(_volume_plan(volume, device, mount, erase))
        problems.append(problem)
    if not any(problems) and not _hidden(host, volumes):
        problems.append(_wal_problem(host, data_dir, wal_dir))
    return {
        "problems": [problem for problem in problems if problem],
        "volumes": planned,
        "wal_move": wal_move(host, data_dir, wal_dir),
    }
