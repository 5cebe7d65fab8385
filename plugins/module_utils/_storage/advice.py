# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect problems, warnings and notes about etcd's volumes: settings, capacity, disks and I/O schedulers.

Pure: uses the results of etcd_host_info and of volumes.plan_volumes. Problems forbid the deployment, warnings are shown with it,
notes explain a choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import DEFAULT_QUOTA
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import wal_bytes
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import erase_list, fio, verdict, wal_plan
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.capacity import (
    capacity_findings,
    filesystem_or_device,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.schedulers import SCHEDULERS, scheduler_plan

# The kernel reports most virtual disks as rotating.
VIRTUAL_DISKS = ("vd", "xvd", "loop", "zram", "nbd", "rbd")

# Of etcd_storage_check_seconds.
CHECK_SECONDS_RANGE = (1, 600)


def setting_problems(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield a problem for each invalid setting: scheduler, fsync_p99_max_ms or check_seconds."""
    shortest, longest = CHECK_SECONDS_RANGE
    scheduler, seconds = settings.get("scheduler") or "", settings.get("check_seconds", shortest)
    if scheduler and scheduler not in SCHEDULERS:
        yield (
            f"etcd_storage_scheduler is '{scheduler}', but must be one of {', '.join(SCHEDULERS)}, or empty to keep "
            "the current schedulers."
        )
    try:
        verdict.parse_limits(float(settings.get("fsync_p99_max_ms", 10)), None)
    except (TypeError, ValueError):
        yield (
            f"etcd_storage_fsync_p99_max_ms is {settings['fsync_p99_max_ms']!r}, but must be a number of milliseconds above 0, "
            "for example 10."
        )
    if not str(seconds).isdecimal() or not shortest <= int(seconds) <= longest:
        yield f"etcd_storage_check_seconds is {seconds!r}, but must be {shortest} to {longest}, for example 10."


def unmeasurable_problems(volumes: Sequence[Mapping[str, Any]], host: Mapping[str, Any]) -> Iterator[str]:
    """Yield a problem for each filesystem that cannot be measured, as in a container without a volume. Those of a member that has data are not measured."""
    for volume in volumes:
        fstype = host.get("mounts", {}).get(volume["mount"], {}).get("fstype")
        if volume["device"] or fstype not in fio.REFUSED_FILESYSTEMS or host.get("member", {}).get("present"):
            continue
        name = f"etcd_storage_{volume['name']}"
        yield (
            f"{volume['mount']} is on {fstype}, which is {fio.REFUSED_FILESYSTEMS[fstype]}: an fdatasync there does not reach a disk, so it "
            f"cannot be measured. Name a device in {name}_device, set {name}_mount to the mount point of a volume, or set "
            "etcd_storage_check_enabled: false."
        )


def disk_warnings(volumes: Sequence[Mapping[str, Any]], host: Mapping[str, Any]) -> Iterator[str]:
    """Warn about disks that rotate, that other services use, or that two volumes share."""
    first: dict[str, str] = {}
    for volume in volumes:
        described = filesystem_or_device(volume, host)
        for disk in described.get("disks", []):
            if disk["rotational"] and not disk["name"].startswith(VIRTUAL_DISKS):
                yield f"{volume['mount']}: disk {disk['name']} rotates, and etcd waits for every write: use an SSD."
            if disk["name"] in first and volume["device"]:
                yield (
                    f"{volume['mount']} and {first[disk['name']]} are on the same disk, {disk['name']}: a WAL volume there "
                    "separates files, not writes. Use another disk for one of them."
                )
            first.setdefault(disk["name"], volume["mount"])
        users = [f"{user['name']} ({user['path']})" for user in described.get("neighbours", [])]
        if users:
            yield (
                f"{volume['mount']} shares disk {described['neighbours'][0]['disk']} with {', '.join(users)}: their "
                "writes delay etcd's. Use a separate disk for etcd."
            )


def virtual_disk_notes(volumes: Sequence[Mapping[str, Any]], host: Mapping[str, Any]) -> list[str]:
    """Note that virtual disks report to be rotating, if any does."""
    disks = [disk for volume in volumes for disk in filesystem_or_device(volume, host).get("disks", [])]
    if not any(disk["rotational"] and disk["name"].startswith(VIRTUAL_DISKS) for disk in disks):
        return []
    return ["the disks report that they rotate, as most virtual disks do: the fio measurement decides."]


def advise(
    host: Mapping[str, Any],
    volumes: Sequence[Mapping[str, Any]],
    planned: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Return all problems, warnings and notes, and the udev rule for the I/O scheduler.

    ``planned`` is the result of volumes.plan_volumes; its problems are included. ``settings`` may have quota (bytes, or with a
    unit; negative or 0: etcd's default), snapshot_count and entry_size (bytes), which give the size of the log, erase,
    scheduler, fsync_p99_max_ms, check_seconds and check_enabled.
    """
    problems, warnings, notes = list(setting_problems(settings)), [], []
    plans = {volume["name"]: volume for volume in planned["volumes"]}
    quota = settings.get("quota") or DEFAULT_QUOTA
    need = {
        "quota": max(0, quota) if isinstance(quota, int) else parse_size(quota, "etcd_quota_backend_bytes"),
        "wal": wal_bytes(
            int(settings.get("snapshot_count") or 0), parse_size(settings.get("entry_size") or 0, "entry_size")
        ),
    }
    erase: Sequence[str] = settings.get("erase") or ()
    for volume in volumes:
        if volume["device"] and volume["name"] not in plans:
            continue
        found = capacity_findings(volume, host, plans.get(volume["name"]), need, len(volumes) > 1)
        problems += found[0]
        warnings += found[1]
        device = host["devices"][volume["device"]] if volume["device"] else {}
        name = erase_list.naming_entry(device, erase) if device else None
        if name and not plans[volume["name"]]["erase"]:
            warnings.append(
                f"etcd_storage_erase_devices still names {name}, which is etcd's device now: remove it, so that it cannot "
                "erase anything again."
            )
    if settings.get("check_enabled", True):
        problems += unmeasurable_problems(volumes, host)
    usable = [volume for volume in volumes if not volume["device"] or volume["name"] in plans]
    warnings += list(dict.fromkeys(disk_warnings(usable, host)))
    scheduler = scheduler_plan(usable, host, settings.get("scheduler") or "")
    warnings += scheduler["warnings"]
    move = planned["wal_move"]
    if move.get("pending"):
        notes.append(f"the write-ahead log moves from {move['source']} to {move['target']} during the rolling update.")
    unused, unmeasured = ("", None) if problems or planned["problems"] else wal_plan.unused_volume(host, volumes, move)
    if unmeasured and settings.get("check_enabled", True):
        warnings.append(unmeasured)
    notes += virtual_disk_notes(usable, host)
    return {
        "problems": [*planned["problems"], *problems, *scheduler["problems"]],
        "warnings": warnings,
        "notes": [*notes, *scheduler["notes"]],
        "unused_volume": unused,
        "scheduler": {"rules": scheduler["rules"], "pending": scheduler["pending"]},
    }
