# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the problems that forbid using a device or a mount point for etcd.

Above all: a device with any content is never formatted, unless etcd_storage_erase_devices permits exactly that and nothing
uses it. A filesystem is the role's own if it is mounted at the volume's mount point, or has the volume's label and type.
Pure: ``device`` and ``mount`` are what etcd_host_info returned, ``volume`` is as volumes.plan_volumes describes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_sizes_distinctly, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import line_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import erase_list

FILESYSTEMS = ("ext4", "xfs")

# Mount options that break etcd's assumptions → the reason.
REFUSED_OPTIONS = {
    "ro": "etcd could not write",
    "noauto": "the volume would be missing after a reboot",
    "nobarrier": "acknowledged writes would be lost in a power failure",
    "barrier=0": "acknowledged writes would be lost in a power failure",
    "norecovery": "a filesystem that was not unmounted would be mounted without recovery",
    "noload": "a filesystem that was not unmounted would be mounted without recovery",
}

# Mount options of a filesystem that cannot be written. Since Linux 6.15, ext4 shows the second one after an error.
READ_ONLY = {"ro", "emergency_ro"}


def mount_options(given: object) -> list[str]:
    """Return mount options as a list of single options: from a text as in fstab, or from a list, whose items may also be such texts.

    Without any, ``defaults``, because fstab needs a word in that column.
    """
    items = given if isinstance(given, (list, tuple)) else [given or ""]
    words = [option for item in items for option in re.split(r"[,\s]+", str(item)) if option]
    return words or ["defaults"]


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def content_problem(volume: Mapping[str, Any], device: Mapping[str, Any]) -> str | None:
    """Return why the device's content is not the role's own filesystem; None if it is, or if the device is blank."""
    if erase_list.content_of(device) is None:
        return None
    name, variable = volume["device"], f"etcd_storage_{volume['name']}_device"
    found = f"{name} is not blank ({erase_list.describe_content(device)})"
    permit = f"If the content is not needed, {erase_list.how_to_permit(device)}, or name another device in {variable}."
    if device["fstype"] not in FILESYSTEMS:
        return f"{found}: Headroom never formats a device with content. {permit}"
    if device["fstype"] != volume["fstype"] and (device["label"] == volume["label"] or device["mounted_at"]):
        return f"{found}, but etcd_storage_fstype is {volume['fstype']}: set it to {device['fstype']}."
    if device.get("incomplete"):
        return f"{found}, and its mkfs was interrupted, so that it cannot be mounted. {permit}"
    if volume["mount"] in device["mounted_at"] or device["label"] == volume["label"]:
        return None
    if erase_list.is_volume_of_etcd(device):
        return (
            f"{found}, so it may hold the data of a member, but not those of the {volume['name']} volume: correct {variable} "
            f"(are the devices of the two volumes swapped?). {permit}"
        )
    return (
        f"{found} and does not have Headroom's label '{volume['label']}': Headroom never formats a device with content. "
        f"{permit}"
    )


def _not_permitted(content: str, device: Mapping[str, Any], erase: Sequence[str]) -> str:
    """Return the problem of the content, beginning with the entry that names the device without permitting to erase it."""
    entry = erase_list.naming_entry(device, erase)
    if entry is None or device["busy"] or device["mounted_at"]:
        return content
    if erase_list.is_volume_of_etcd(device) and not entry.startswith(erase_list.UUID):
        return (
            f"'{entry}' in etcd_storage_erase_devices may be left over from before etcd used this device, so it does not permit to "
            f"erase the label '{device['label']}', which only the filesystem's UUID does: remove the entry. {content}"
        )
    return f"'{entry}' in etcd_storage_erase_devices does not say that it erases what is on this device now: {content}"


def _users(device: Mapping[str, Any]) -> list[str]:
    """Return what else uses the device."""
    users = [f"carries partitions ({', '.join(device['partitions'])})"] if device["partitions"] else []
    if device["holders"]:
        users.append(f"is held by {', '.join(device['holders'])} (LVM, RAID or encryption)")
    if device["swap"]:
        users.append("is used as swap")
    if device["busy"] and not (users or device["mounted_at"]):
        users.append("is in use, perhaps mounted in a container")
    return users


def device_problem(volume: Mapping[str, Any], device: Mapping[str, Any], erase: Sequence[str]) -> str | None:
    """Return why the device cannot be used, None if it can. Only the first problem, because it usually causes the others."""
    name, variable = volume["device"], f"etcd_storage_{volume['name']}_device"
    if not device["exists"]:
        return f"{name} does not exist on this host: run 'ls -l /dev/disk/by-id' there and correct {variable}."
    if not device["is_block"]:
        return f"{name} is not a block device: name a disk, a partition or a logical volume in {variable}."
    if device["mounted_at"] and volume["mount"] not in device["mounted_at"]:
        return (
            f"{name} is mounted at {', '.join(device['mounted_at'])}, not at {volume['mount']}: "
            f"unmount it there, or name another device in {variable}."
        )
    users = _users(device)
    if users:
        return f"{name} {' and '.join(users)}: name an unused device in {variable}."
    if device["probe_error"]:
        return (
            f"{name} {device['probe_error']}: it is not known to be blank, so it is left unchanged. "
            "Become root (become: true), or replace the disk."
        )
    content = content_problem(volume, device)
    if content and (device["busy"] or device["mounted_at"] or not erase_list.permitting_entry(device, erase)):
        return _not_permitted(content, device, erase)
    if content and name.startswith("/dev/disk/by-uuid/"):
        return f"{name} disappears with the filesystem to erase: name the device by /dev/disk/by-id in {variable}."
    if device["read_only"]:
        return f"{name} is read-only: make it writable, or name another device in {variable}."
    return _size_problem(volume, device)


def _size_problem(volume: Mapping[str, Any], device: Mapping[str, Any]) -> str | None:
    """Return whether the device is too small, or smaller than its filesystem."""
    name, needed = volume["device"], parse_size(volume["min_size"], f"etcd_storage_{volume['name']}_min_size")
    if device["size"] is None:
        return (
            f"{name} has no known size, because sysfs does not show it (/sys/dev/block/{device['number']}/size): make sysfs visible on this host, or name "
            f"another device in etcd_storage_{volume['name']}_device."
        )
    if device["size"] < needed:
        return (
            f"{name} has {device['size'] >> 20} MiB, less than the {needed >> 20} MiB of "
            f"etcd_storage_{volume['name']}_min_size: take a larger device, or lower the limit."
        )
    if (device.get("filesystem_size") or 0) > device["size"]:
        has, filesystem = format_sizes_distinctly(device["size"], device["filesystem_size"])
        return f"{name} has {has}, but its filesystem has {filesystem}: the device shrank. Restore its size first."
    return None


def mount_point_problem(volume: Mapping[str, Any], mount: Mapping[str, Any]) -> str | None:
    """Return why the kernel and systemd would know the mount point by another name, None if they would not."""
    resolved = mount.get("resolved", volume["mount"])
    if resolved == volume["mount"]:
        return None
    name = volume["name"]
    return (
        f"etcd_storage_{name}_mount is {volume['mount']}, but a volume there would be mounted at {resolved}, because the path has a "
        f"slash too many or a symbolic link: write {resolved}, and etcd_{name}_dir below it."
    )


def nesting_problem(volumes: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the problem of a volume that another one would hide, because that is mounted later and at a folder above; None without one."""
    for inner, outer in combinations([volume for volume in volumes if volume["device"]], 2):
        if _is_below(inner["mount"], outer["mount"]):
            return (
                f"etcd_storage_{inner['name']}_mount is {inner['mount']}, below the mount point of the {outer['name']} volume, {outer['mount']}: the "
                f"{outer['name']} volume would hide it. Set mount points next to each other, such as /var/lib/etcd and /var/lib/etcd-wal."
            )
    return None


def filesystem_problem(volume: Mapping[str, Any], mount: Mapping[str, Any]) -> str | None:
    """Return why etcd cannot use the filesystem that is at the mount point now, None if it can. ``mount`` may be empty (unknown)."""
    point = volume["mount"]
    unmounted = [] if volume["device"] else mount.get("unmounted", [])
    if unmounted:
        entry = unmounted[-1]
        return (
            f"/etc/fstab names {entry['source']} for {entry['mount_point']}, but it is not mounted: etcd would write into the mount point. "
            f"Mount it (mount {entry['mount_point']}), or remove the entry."
        )
    here = mount.get("mounted") or not volume["device"]
    if here and READ_ONLY.intersection(mount.get("options", [])):
        return (
            f"the filesystem of {point} ({mount['source']}) is read-only, perhaps because the kernel found an error: look for the "
            "reason in the kernel's log (journalctl -k), check the disk, and remount the filesystem read-write."
        )
    return None


def mount_problem(volume: Mapping[str, Any], mount: Mapping[str, Any], number: str | None) -> str | None:
    """Return why the mount point cannot be used, None if it can."""
    if mount["mounted"] and mount["number"] != number:
        return (
            f"{mount['source']} is mounted at {volume['mount']}, not {volume['device']}: "
            f"unmount it, or correct etcd_storage_{volume['name']}_device."
        )
    if not mount["mounted"] and mount["entries"]:
        return (
            f"{volume['mount']} is not empty ({mount['entries']} entries): a volume mounted there would hide them. "
            "Move them away, or onto the volume."
        )
    return None


def fstab_problem(volume: Mapping[str, Any], mount: Mapping[str, Any], source: str) -> str | None:
    """Return why the entry of fstab for this mount point cannot be changed, None if it can, or if there is none."""
    line = (mount["fstab"] or {}).get("line", "")
    problem = line_problem(line, volume["mount"]) if line else None
    if problem is None:
        return None
    return (
        f"/etc/fstab has the line '{line}' for {volume['mount']}, but {problem}, so the role would add a second line. Remove it: the "
        f"role adds '{source} {volume['mount']} {volume['fstype']} {','.join(volume['options'])}'."
    )


def setting_problem(volume: Mapping[str, Any]) -> str | None:
    """Return which setting is invalid for any device, None if none is."""
    if not volume["directory"]:
        return (
            f"etcd_storage_{volume['name']}_device is {volume['device']}, but etcd_{volume['name']}_dir is empty: remove "
            f"etcd_{volume['name']}_dir, so that the log is on that device, or remove etcd_storage_{volume['name']}_device."
        )
    if not _is_below(volume["directory"], volume["mount"]):
        return (
            f"{volume['directory']}, etcd's own directory, is not below the mount point {volume['mount']}: etcd could write "
            f"to the mount point of an unmounted volume. Correct etcd_{volume['name']}_dir or "
            f"etcd_storage_{volume['name']}_mount."
        )
    if volume["fstype"] not in FILESYSTEMS:
        return f"etcd_storage_fstype is '{volume['fstype']}', but must be one of {', '.join(FILESYSTEMS)}."
    unfit = [option for option in volume["options"] if option in REFUSED_OPTIONS]
    if unfit:
        return f"etcd_storage_mount_options has {unfit[0]}: {REFUSED_OPTIONS[unfit[0]]}. Remove it."
    try:
        parse_size(volume["min_size"], f"etcd_storage_{volume['name']}_min_size")
    except ValueError as problem:
        return f"{problem}."
    return None


def has_unmounted_content(host: Mapping[str, Any], volumes: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a volume with content is not mounted yet, so that its files cannot be seen."""
    return any(
        host["devices"][volume["device"]].get("signature") is not None
        and not host["mounts"][volume["mount"]]["mounted"]
        for volume in volumes
    )
