# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide what etcd_storage_erase_devices permits. Pure; ``device`` is as etcd_host_info describes it.

An entry is the exact id of a device or of its content. It erases a filesystem. Anything else, such as a logical volume that is
not active or a closed LUKS volume, does not show whether somebody needs it: there the entry has a second word that says what it
erases, for example "UUID=… LVM2_member".

An entry that was not removed must not erase what the role put on the device since: only its UUID erases a volume of etcd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BY_ID, UUID = "/dev/disk/by-id/", "UUID="

# The labels of the filesystems that the role makes.
ETCD_LABELS = ("etcd-data", "etcd-wal")

# The second word of an entry for a device that blkid knows nothing of, but that is not zero.
UNKNOWN = "unknown"


def entries(given: object) -> list[str]:
    """Return the entries of etcd_storage_erase_devices: from a list, or from a text with commas, which role validation accepts for a list."""
    if isinstance(given, (list, tuple)):
        return [str(entry) for entry in given]
    return [entry.strip() for entry in str(given or "").split(",") if entry.strip()]


def content_of(device: Mapping[str, Any]) -> str | None:
    """Return what a device carries, in one word: blkid's type, the type of its partition table, 'unknown', or None if it is blank.

    'several' means contradicting signatures. Data without a signature on a device that the role was erasing belongs to nobody.
    """
    types = [kind for kind in (device["fstype"], device["partition_table"]) if kind]
    if types:
        return "+".join(types)
    if device["signature"]:
        return "several"
    return UNKNOWN if device["nonzero_at"] is not None and not device["has_erased_mark"] else None


def describe_content(device: Mapping[str, Any]) -> str:
    """Return what a device that is not blank carries, in words."""
    if device["signature"]:
        return (
            f"{device['signature']} with the label '{device['label']}'" if device["label"] else str(device["signature"])
        )
    return f"no signature that blkid knows, but byte {device['nonzero_at']} is not zero"


def _is_plain_filesystem(device: Mapping[str, Any]) -> bool:
    kind = str(device["fstype"])
    # A member of a ZFS pool counts as a filesystem for blkid.
    return device["usage"] == "filesystem" and not device["partition_table"] and not kind.endswith("_member")


def is_volume_of_etcd(device: Mapping[str, Any]) -> bool:
    """Return whether a device carries a filesystem that the role made, of this member or of another one."""
    return device.get("label") in ETCD_LABELS


def _names(device: Mapping[str, Any]) -> list[str]:
    """Return the ids of a device that an entry may have. The UUID is gone with the content, so it comes first."""
    uuid = [f"{UUID}{device['uuid']}"] if device.get("uuid") else []
    return uuid + [link for link in device.get("links", []) if link.startswith(BY_ID)]


def _permitting_names(device: Mapping[str, Any]) -> list[str]:
    """Return the ids with which an entry may permit to erase the content."""
    return [name for name in _names(device) if name.startswith(UUID) or not is_volume_of_etcd(device)]


def naming_entry(device: Mapping[str, Any], erase: Sequence[str]) -> str | None:
    """Return the entry that names this device, whatever it permits; None if there is none."""
    return next((entry for entry in erase if entry.split()[:1] and entry.split()[0] in _names(device)), None)


def permitting_entry(device: Mapping[str, Any], erase: Sequence[str]) -> str | None:
    """Return the entry that permits to erase what this device carries now; None if there is none."""
    content, words = content_of(device), [entry.split() for entry in erase]
    if content in (None, "several"):
        return None
    for entry in words:
        said = entry[1:] == [content] or (len(entry) == 1 and _is_plain_filesystem(device))
        if entry[:1] and entry[0] in _permitting_names(device) and said:
            return " ".join(entry)
    return None


def how_to_permit(device: Mapping[str, Any]) -> str:
    """Return how to permit that this device's content is erased: the entry, or a command if no entry can."""
    content, names = content_of(device), _permitting_names(device)
    if content == "several" or not names:
        return f"run 'wipefs --all {device['resolved']} && blkdiscard --zeroout {device['resolved']}' on the host"
    entry = names[0] if _is_plain_filesystem(device) else f"{names[0]} {content}"
    return f"add '{entry}' to etcd_storage_erase_devices"


def list_problem(erase: Sequence[str]) -> str | None:
    """Return why an entry is invalid or unsafe, None if all are valid."""
    for entry in erase:
        name = (entry.split() or [""])[0]
        if name.startswith("/dev/disk/by-path/"):
            return (
                f"etcd_storage_erase_devices has {name}, which names a slot: it would also erase the disk that replaces this "
                f"one. Write {UUID}… or {BY_ID}…, which name the disk."
            )
        if not name.startswith((BY_ID, UUID)):
            return (
                f"etcd_storage_erase_devices has {name or 'an empty entry'}, which may be another device after the next boot: "
                f"write {UUID}… or {BY_ID}…."
            )
        if len(entry.split()) > 2:
            return (
                f"etcd_storage_erase_devices has '{entry}', which has more than two words: write the id, and for anything but "
                f"a filesystem what it erases, for example '{name} LVM2_member'."
            )
    return None
