# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether etcd's volumes have room for its database and its write-ahead log. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import SEGMENT_BYTES

# With less free space etcd cannot allocate the next segment of the log.
FULL_BYTES = SEGMENT_BYTES
# Percent of a blank device that mkfs uses for its own tables, rounded up.
OVERHEAD_PERCENT = 3
# What a volume may hold, in messages.
_PART_NAMES = {"quota": "the quota", "wal": "the write-ahead log"}
_SIZE_NAMES = {"quota": "quota", "wal": "log up to"}


def _mount(volume: Mapping[str, Any], host: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of the mount point, empty if unknown."""
    found: Mapping[str, Any] = host.get("mounts", {}).get(volume["mount"], {})
    return found


def filesystem_or_device(volume: Mapping[str, Any], host: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of the volume's device, or without one those of the filesystem at its mount point."""
    found: Mapping[str, Any] = host["devices"][volume["device"]] if volume["device"] else _mount(volume, host)
    return found


def _total(volume: Mapping[str, Any], host: Mapping[str, Any], planned: Mapping[str, Any] | None) -> int | None:
    """Return the bytes of the volume's filesystem, as it will be after formatting or growing; None if unknown."""
    mount = _mount(volume, host)
    if planned is not None and not planned["mounted"]:
        return int(host["devices"][volume["device"]]["size"]) * (100 - OVERHEAD_PERCENT) // 100
    if mount.get("size") is None:
        return None
    return int(mount["size"]) + (planned["gain"] if planned else 0)


def _parts(volume: Mapping[str, Any], separate: bool) -> list[str]:
    """Return what the volume holds, as keys of ``need``: the database, which grows up to its quota, and the log."""
    if not separate:
        return ["quota", "wal"]
    return ["quota" if volume["name"] == "data" else "wal"]


def capacity_findings(
    volume: Mapping[str, Any],
    host: Mapping[str, Any],
    planned: Mapping[str, Any] | None,
    need: Mapping[str, int],
    separate: bool,
) -> tuple[list[str], list[str]]:
    """Return the problems and warnings about one volume's capacity.

    A full disk is a problem. The quota and the log should fit: a full disk stops etcd, the quota only stops writes.
    Defragmentation copies the database within the volume. ``need``: bytes of quota and wal.
    """
    parts = _parts(volume, separate)
    has_database = "quota" in parts
    total, mount, member = _total(volume, host, planned), _mount(volume, host), host.get("member", {})
    if total is None:
        return [], []
    place, what = volume["mount"], " and ".join(_PART_NAMES[part] for part in parts)
    needed = sum(need[part] for part in parts)
    larger = "Use a larger device" if volume["device"] else "Free some space, or use a separate volume"
    sizes = ", ".join(f"{_SIZE_NAMES[part]} {format_size(need[part])}" for part in parts)
    here = bool(mount.get("mounted") or not volume["device"])
    available = (mount.get("available") or 0) + (planned["gain"] if planned else 0)
    if here and member.get("present") and available < FULL_BYTES:
        return [_full_disk(volume, available, total)], []
    if total < needed:
        has, needs = format_sizes_distinctly(total, needed)
        lower = ", or lower etcd_quota_backend_bytes" if has_database else ""
        return [], [
            f"{place} has {has}, and {what} may need {needs} ({sizes}): a full disk would stop etcd "
            f"before its quota stops writes. {larger}{lower}."
        ]
    db_size = member.get("db_size") or 0
    if has_database and here and available < db_size:
        free, database = format_sizes_distinctly(available, db_size)
        return [], [
            f"{place} has {free} free, less than the database's {database}: a "
            f"defragmentation, which copies the database, may not fit. {larger}."
        ]
    if has_database and total < needed + need["quota"]:
        return [], [
            f"{place} has {format_size(total)}: a database at its quota leaves no room to "
            f"defragment ({format_size(needed + need['quota'])} with the copy; {sizes}). {larger}, or lower "
            "etcd_quota_backend_bytes."
        ]
    return [], []


def _full_disk(volume: Mapping[str, Any], available: int, total: int) -> str:
    """Return the message about a full disk, with the fixes."""
    place, variable = volume["mount"], f"etcd_storage_{volume['name']}_device"
    grow = f"make the device ({volume['device']}) larger" if volume["device"] else f"name a larger device in {variable}"
    return (
        f"{place} is full: {format_size(available)} of {format_size(total)} are free. etcd stops there without losing "
        f"acknowledged writes. Remove other files ('du -xsh {place}/*'), or {grow}, and run this again: the role grows "
        "the filesystem and starts the member."
    )
