# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read /etc/fstab, and find what it lists but is not mounted. Private to the collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import Mount, unescape


@dataclass(frozen=True)
class FstabEntry:
    """One line of /etc/fstab (fstab(5))."""

    source: str
    mount_point: str
    fstype: str
    options: str
    dump: str
    passno: str


def parse_fstab(text: str) -> list[FstabEntry]:
    """Return the entries of an fstab, without comments."""
    entries = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 3 or fields[0].startswith("#"):
            continue
        fields += ["defaults", "0", "0"][len(fields) - 3 :]
        source, mount_point, fstype, options, dump, passno = (unescape(field) for field in fields[:6])
        entries.append(FstabEntry(source, mount_point, fstype, options, dump, passno))
    return entries


def read_fstab(path: str = "/etc/fstab") -> list[FstabEntry]:
    """Return the entries of the machine's fstab; empty if there is none."""
    return parse_fstab(read_text(path))


def unmounted_entries(path: str, entries: Sequence[FstabEntry], mounts: Sequence[Mount]) -> list[FstabEntry]:
    """Return the entries for the path, or for a folder above it, that are not mounted, without those that a mounted volume would hide.

    An automount that has not mounted its volume does not count as mounted.
    """
    inside = os.path.realpath(path).rstrip("/") + "/"
    mounted = [mount.mountpoint for mount in mounts if mount.fstype != "autofs"]
    around = {point.rstrip("/") + "/" for point in mounted if inside.startswith(point.rstrip("/") + "/")}
    visible = max(around, key=len, default="/")
    points = [
        (os.path.realpath(entry.mount_point) + "/", entry) for entry in entries if entry.mount_point.startswith("/")
    ]
    return [entry for point, entry in points if inside.startswith(point) and len(point) > len(visible)]


def unmounted_volume(path: str, entries: Sequence[FstabEntry], mounts: Sequence[Mount]) -> str:
    """Return the deepest mount point of ``unmounted_entries``, or an empty text. Files below it would be hidden as soon as it is mounted."""
    points = [os.path.realpath(entry.mount_point) for entry in unmounted_entries(path, entries, mounts)]
    return max(points, key=len, default="")
