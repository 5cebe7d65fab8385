# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain the I/O schedulers of etcd's disks, and choose one with a udev rule. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._storage.capacity import filesystem_or_device

# Support for I/O classes and weights (Linux, Documentation/block/ioprio.rst, bfq-iosched.rst).
SCHEDULERS = {
    "none": "ignores priorities",
    "mq-deadline": "honours the three I/O classes, but neither their levels nor weights",
    "kyber": "ignores priorities",
    "bfq": "honours I/O class, level and weight",
}

# Names below by-id that only later rules of udev create (63-md-raid-arrays, 65-gce-disk-naming, 69-dm-lvm), so that the role's rule,
# 61-headroom-etcd, does not find them. Those of 60-persistent-storage and of earlier files are there.
LATE_LINKS = ("/dev/disk/by-id/google-", "/dev/disk/by-id/lvm-pv-uuid-", "/dev/disk/by-id/md-")

RULES_HEADER = "# Managed by etcdops.headroom: changes here are overwritten."


def scheduler_plan(volumes: Sequence[Mapping[str, Any]], host: Mapping[str, Any], wanted: str) -> dict[str, Any]:
    """Return the udev rule that sets the I/O scheduler, and the disks that it still has to change.

    The keys are ``rules`` (the file's text, empty: no file), ``pending`` (disks with another scheduler), ``problems``, ``warnings`` and
    ``notes``. Without ``wanted`` the schedulers stay as they are, and the notes explain them.
    """
    disks: dict[str, Mapping[str, Any]] = {}
    for volume in volumes:
        for disk in filesystem_or_device(volume, host).get("disks", []) if volume["device"] or not wanted else []:
            disks.setdefault(disk["name"], disk)
    if not wanted:
        notes = [
            f"I/O scheduler {disk['scheduler']}, unchanged: it "
            f"{SCHEDULERS.get(disk['scheduler'], 'is unknown to Headroom')}."
            for disk in disks.values()
            if disk["scheduler"]
        ]
        return {"rules": "", "pending": [], "problems": [], "warnings": [], "notes": list(dict.fromkeys(notes))}
    links = {name: _early_link(disk["links"]) for name, disk in disks.items()}
    unnamed = [name for name, link in links.items() if not link]
    lines = [
        f'ACTION=="add|change", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk", {_match(link)}, '
        f'ATTR{{queue/scheduler}}="{wanted}"'
        for link in links.values()
        if link
    ]
    problems = [
        f"etcd_storage_scheduler is {wanted}, but disk {name} has no stable name below /dev/disk that exists "
        "when the role's udev rule runs at boot: leave etcd_storage_scheduler empty."
        for name in unnamed
    ]
    chosen = [f"I/O scheduler {wanted}, set by etcd_storage_scheduler: it {SCHEDULERS.get(wanted)}."] if disks else []
    return {
        "rules": "\n".join([RULES_HEADER, *lines, ""]) if lines else "",
        "pending": [name for name, disk in disks.items() if disk["scheduler"] != wanted and links[name]],
        "problems": problems,
        "warnings": [_unnamed_volume(volume, wanted) for volume in volumes if not volume["device"]],
        "notes": chosen,
    }


def _unnamed_volume(volume: Mapping[str, Any], wanted: str) -> str:
    """Return the warning about a volume whose disk may belong to others, since no variable names it."""
    name = f"etcd_storage_{volume['name']}_device"
    return (
        f"etcd_storage_scheduler is {wanted}, but the scheduler below {volume['mount']} stays unchanged, because {name} is empty: name "
        "the device there, or leave etcd_storage_scheduler empty."
    )


def _early_link(links: Sequence[str]) -> str | None:
    """Return the preferred name of a disk among those that exist when the role's rule is applied."""
    return next((link for link in links if not link.startswith(LATE_LINKS)), None)


def _match(link: str) -> str:
    """Return the udev match for a disk: its filesystem's UUID, or a link that an earlier rule created."""
    folder, _slash, name = link[len("/dev/disk/") :].partition("/")
    return f'ENV{{ID_FS_UUID}}=="{name}"' if folder == "by-uuid" else f'SYMLINK=="disk/{folder}/{name}"'
