# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room on etcd's volumes, and what else one should know of their disks. Private to the collection.

Pure: decides from what etcd_host_info saw and from what storage_volumes.plan decided. Problems forbid the deployment, warnings
are shown with it, notes explain a choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes as storage_volumes

# etcd keeps five segments of 64 MB (max-wals), the one it writes, and the next one made ahead.
SEGMENT_BYTES = 64_000_000
KEPT_SEGMENTS = 7
# Below this much, the next segment of the log cannot be made, and the database can hardly grow.
FULL_BYTES = SEGMENT_BYTES
# etcd's own default, where no quota is known.
DEFAULT_QUOTA = 2 << 30
# What mkfs takes of a blank device for its own tables, in percent, rounded up.
OVERHEAD_PERCENT = 3

# What each I/O scheduler of Linux makes of I/O classes and weights (Documentation/block/ioprio.rst, bfq-iosched.rst).
SCHEDULERS = {
    "none": "knows no priorities",
    "mq-deadline": "knows the three I/O classes, but neither levels within them nor weights",
    "kyber": "knows no priorities",
    "bfq": "serves by I/O class, level and weight",
}

RULES_HEAD = "# Managed by etcdops.headroom: changes here are overwritten."

# The kernel takes most virtual disks for rotating ones.
VIRTUAL = ("vd", "xvd", "loop", "zram", "nbd", "rbd")

SECONDS = (1, 600)


def wal_bytes(snapshot_count: int, entry_bytes: int) -> int:
    """The most that the write-ahead log takes: the segments that are kept, or all since the last snapshot, and two."""
    since = -(-snapshot_count * entry_bytes // SEGMENT_BYTES) + 2
    return max(KEPT_SEGMENTS, since) * SEGMENT_BYTES


def setting_problems(asked: Mapping[str, Any]) -> Iterator[str]:
    """Values that no host could make right: scheduler, fsync_p99_max_ms, check_seconds."""
    scheduler, seconds = asked.get("scheduler") or "", asked.get("check_seconds", SECONDS[0])
    if scheduler and scheduler not in SCHEDULERS:
        yield (
            f"etcd_storage_scheduler is '{scheduler}', but must be one of {', '.join(SCHEDULERS)}, or empty to leave "
            "schedulers alone."
        )
    try:
        fio.limits(float(asked.get("fsync_p99_max_ms", 10)), None)
    except (TypeError, ValueError):
        yield (
            f"etcd_storage_fsync_p99_max_ms is {asked['fsync_p99_max_ms']!r}, but must be above 0 and a number of "
            "milliseconds, for example 10."
        )
    if not str(seconds).isdigit() or not SECONDS[0] <= int(seconds) <= SECONDS[1]:
        yield f"etcd_storage_check_seconds is {seconds!r}, but must be {SECONDS[0]} to {SECONDS[1]}, for example 10."


def _mount(volume: Mapping[str, Any], host: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is known of the mount point; nothing of one that was not asked for."""
    found: Mapping[str, Any] = host.get("mounts", {}).get(volume["mount"], {})
    return found


def _described(volume: Mapping[str, Any], host: Mapping[str, Any]) -> Mapping[str, Any]:
    """The device, or without one the filesystem that the mount point lies on."""
    found: Mapping[str, Any] = host["devices"][volume["device"]] if volume["device"] else _mount(volume, host)
    return found


def _total(volume: Mapping[str, Any], host: Mapping[str, Any], planned: Mapping[str, Any] | None) -> int | None:
    """Bytes of the filesystem that a volume has, or will have once it is made or has grown."""
    mount = _mount(volume, host)
    if planned is not None and not planned["mounted"]:
        return int(host["devices"][volume["device"]]["size"]) * (100 - OVERHEAD_PERCENT) // 100
    if mount.get("size") is None:
        return None
    return int(mount["size"]) + (planned["gain"] if planned else 0)


def _roles(volume: Mapping[str, Any], separate: bool) -> tuple[bool, bool]:
    """Whether the volume holds the database, and whether it holds the log."""
    return volume["name"] == "data", volume["name"] == "wal" or not separate


def room(
    volume: Mapping[str, Any],
    host: Mapping[str, Any],
    planned: Mapping[str, Any] | None,
    need: Mapping[str, int],
    separate: bool,
) -> tuple[list[str], list[str]]:
    """Problems and warnings of one volume's room.

    A disk that is full is a problem. The quota and the log should fit, or etcd meets a full disk, which stops it, before
    its quota, which only stops writes. A defragmentation writes the database anew beside the old one.
    """
    data, wal = _roles(volume, separate)
    total, mount, member = _total(volume, host, planned), _mount(volume, host), host.get("member", {})
    if total is None:
        return [], []
    place, what = volume["mount"], " and ".join([*["the quota"] * data, *["the write-ahead log"] * wal])
    least = data * need["quota"] + wal * need["wal"]
    larger = "Take a larger device" if volume["device"] else "Free some space, or give it a volume of its own"
    sizes = ", ".join(
        [*[f"quota {format_size(need['quota'])}"] * data, *[f"log up to {format_size(need['wal'])}"] * wal]
    )
    here = bool(mount.get("mounted") or not volume["device"])
    available = (mount.get("available") or 0) + (planned["gain"] if planned else 0)
    if here and member.get("present") and available < FULL_BYTES:
        return [_full(volume, available, total)], []
    if total < least:
        lower = ", or lower etcd_quota_backend_bytes" if data else ""
        return [], [
            f"{place} has {format_size(total)}, {what} may take {format_size(least)} ({sizes}): etcd would stop at a full "
            f"disk before its quota stops the writes. {larger}{lower}."
        ]
    db_size = member.get("db_size") or 0
    if data and here and available < db_size:
        return [], [
            f"{place} has {format_size(available)} free, less than the database's {format_size(db_size)}: a "
            f"defragmentation, which writes it anew beside the old one, may not fit. {larger}."
        ]
    if data and total < least + need["quota"]:
        return [], [
            f"{place} has {format_size(total)}: a database that fills its quota leaves no room for the copy that a "
            f"defragmentation makes ({format_size(least + need['quota'])} with it; {sizes}). {larger}, or lower "
            "etcd_quota_backend_bytes."
        ]
    return [], []


def _full(volume: Mapping[str, Any], available: int, total: int) -> str:
    """What a full disk is, and the ways out of it."""
    place, variable = volume["mount"], f"etcd_storage_{volume['name']}_device"
    grow = f"make the device ({volume['device']}) larger" if volume["device"] else f"name a larger device in {variable}"
    return (
        f"{place} is full: {format_size(available)} of {format_size(total)} are free. etcd stops there without losing what "
        f"it has acknowledged. Remove what is not etcd's ('du -xsh {place}/*'), or {grow}, and run this again: the "
        "filesystem grows, and the member starts."
    )


def disk_warnings(volumes: Sequence[Mapping[str, Any]], host: Mapping[str, Any]) -> Iterator[str]:
    """Disks that rotate, that others use, or that two volumes share."""
    first: dict[str, str] = {}
    for volume in volumes:
        described = _described(volume, host)
        for disk in described.get("disks", []):
            if disk["rotational"] and not disk["name"].startswith(VIRTUAL):
                yield f"{volume['mount']}: disk {disk['name']} rotates, and etcd waits for each of its writes: take an SSD."
            if disk["name"] in first and volume["device"]:
                yield (
                    f"{volume['mount']} and {first[disk['name']]} are on one disk, {disk['name']}: a WAL volume there "
                    "keeps files apart, not their writes."
                )
            first.setdefault(disk["name"], volume["mount"])
        users = [f"{user['name']} ({user['path']})" for user in described.get("neighbours", [])]
        if users:
            yield (
                f"{volume['mount']} shares disk {described['neighbours'][0]['disk']} with {', '.join(users)}: their "
                "writes delay etcd's. Give etcd a disk of its own."
            )


def virtual_disks(volumes: Sequence[Mapping[str, Any]], host: Mapping[str, Any]) -> list[str]:
    """A note on virtual disks that call themselves rotating, if there are any."""
    disks = [disk for volume in volumes for disk in _described(volume, host).get("disks", [])]
    if not any(disk["rotational"] and disk["name"].startswith(VIRTUAL) for disk in disks):
        return []
    return ["the disks call themselves rotating, as most virtual disks do: the measurement decides."]


def scheduler_plan(volumes: Sequence[Mapping[str, Any]], host: Mapping[str, Any], wanted: str) -> dict[str, Any]:
    """The udev rule that chooses the I/O scheduler, and what is left to do or to say.

    Returns `rules` (the file's text, empty: no file), `pending` (disks whose scheduler is another one), `problems` and
    `notes`. Without a wish the schedulers are left as they are, and the notes say what that means.
    """
    disks: dict[str, Mapping[str, Any]] = {}
    for volume in volumes:
        for disk in _described(volume, host).get("disks", []) if volume["device"] or not wanted else []:
            disks.setdefault(disk["name"], disk)
    if not wanted:
        notes = [
            f"I/O scheduler {disk['scheduler']}, left as it is: it "
            f"{SCHEDULERS.get(disk['scheduler'], 'is unknown to Headroom')}."
            for disk in disks.values()
            if disk["scheduler"]
        ]
        return {"rules": "", "pending": [], "problems": [], "notes": list(dict.fromkeys(notes))}
    nameless = [disk["name"] for disk in disks.values() if not disk["links"]]
    lines = [
        f'ACTION=="add|change", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", {_match(disk["links"][0])}, '
        f'ATTR{{queue/scheduler}}="{wanted}"'
        for disk in disks.values()
        if disk["links"]
    ]
    problems = [
        f"etcd_storage_scheduler is {wanted}, but disk {name} has no name below /dev/disk that lasts, by which a udev rule "
        "could find it at boot: leave etcd_storage_scheduler empty."
        for name in nameless
    ]
    chosen = (
        [f"I/O scheduler {wanted}, chosen by etcd_storage_scheduler: it {SCHEDULERS.get(wanted)}."] if disks else []
    )
    return {
        "rules": "\n".join([RULES_HEAD, *lines, ""]) if lines else "",
        "pending": [name for name, disk in disks.items() if disk["scheduler"] != wanted and disk["links"]],
        "problems": problems,
        "notes": chosen,
    }


def _match(link: str) -> str:
    """How a udev rule finds the disk: by its filesystem, or by a link that an earlier rule has given it."""
    folder, _slash, name = link[len("/dev/disk/") :].partition("/")
    return f'ENV{{ID_FS_UUID}}=="{name}"' if folder == "by-uuid" else f'SYMLINK=="disk/{folder}/{name}"'


def advise(
    host: Mapping[str, Any], volumes: Sequence[Mapping[str, Any]], decided: Mapping[str, Any], asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Problems, warnings and notes beside those of storage_volumes.plan, whose result `decided` is, and the scheduler's rule.

    `asked` has quota (bytes, or with a unit; negative or 0: etcd's default), snapshot_count and entry_size (bytes), for
    the size of the log, erase, scheduler, fsync_p99_max_ms and check_seconds; each may be missing.
    """
    problems, warnings, notes = list(setting_problems(asked)), [], []
    planned = {volume["name"]: volume for volume in decided["volumes"]}
    quota = asked.get("quota") or DEFAULT_QUOTA
    need = {
        "quota": max(0, quota) if isinstance(quota, int) else parse_size(quota, "etcd_quota_backend_bytes"),
        "wal": wal_bytes(int(asked.get("snapshot_count") or 0), parse_size(asked.get("entry_size") or 0, "entry_size")),
    }
    erase: Sequence[str] = asked.get("erase") or ()
    for volume in volumes:
        if volume["device"] and volume["name"] not in planned:
            continue
        found = room(volume, host, planned.get(volume["name"]), need, len(volumes) > 1)
        problems += found[0]
        warnings += found[1]
        device = host["devices"][volume["device"]] if volume["device"] else {}
        name = storage_volumes.erasable(device, erase) if device else None
        if name and not planned[volume["name"]]["erase"]:
            warnings.append(
                f"etcd_storage_erase_devices still names {name}, which is etcd's by now: take it out, so that it never "
                "erases anything again."
            )
    usable = [volume for volume in volumes if not volume["device"] or volume["name"] in planned]
    warnings += list(dict.fromkeys(disk_warnings(usable, host)))
    scheduler = scheduler_plan(usable, host, asked.get("scheduler") or "")
    move = decided["wal_move"]
    if move.get("pending"):
        notes.append(f"the write-ahead log moves from {move['source']} to {move['target']} in the member's turn.")
    notes += virtual_disks(usable, host)
    return {
        "problems": [*decided["problems"], *problems, *scheduler["problems"]],
        "warnings": warnings,
        "notes": [*notes, *scheduler["notes"]],
        "scheduler": {"rules": scheduler["rules"], "pending": scheduler["pending"]},
    }
