# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read /etc/fstab, and find what it lists but is not mounted. Private to the collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import Mount, unescape


@dataclass(frozen=True)
class FstabEntry:
    """One line of /etc/fstab (fstab(5)), parsed, and as it is written there."""

    source: str
    mount_point: str
    fstype: str
    options: str
    dump: str
    passno: str
    line: str = field(default="", compare=False)


def parse_fstab(text: str) -> list[FstabEntry]:
    """Return the entries of an fstab, without comments."""
    entries = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 3 or fields[0].startswith("#"):
            continue
        fields += ["defaults", "0", "0"][len(fields) - 3 :]
        source, mount_point, fstype, options, dump, passno = (unescape(field) for field in fields[:6])
        entries.append(FstabEntry(source, mount_point, fstype, options, dump, passno, line.strip()))
    return entries


def read_fstab(path: str = "/etc/fstab") -> list[FstabEntry]:
    """Return the entries of the machine's fstab; empty if there is none."""
    return parse_fstab(read_text(path))


def line_problem(line: str, mount_point: str) -> str | None:
    """Return why module ansible.posix.mount would not change a line, but add a second one for the mount point; None if it would change it."""
    fields = line.split("#")[0].split()
    if not 4 <= len(fields) <= 6:
        return f"it has {len(fields)} fields instead of 4 to 6"
    written = unescape(fields[1])
    return None if written == mount_point else f"it writes the mount point as {written}"


def entry_of(path: str, entries: Sequence[FstabEntry]) -> FstabEntry | None:
    """Return the entry for a mount point, however it is written; if there are several, the first one that is written as the path is."""
    point = os.path.realpath(path)
    found = [
        entry for entry in entries if entry.mount_point.startswith("/") and os.path.realpath(entry.mount_point) == point
    ]
    return min(found, key=lambda entry: line_problem(entry.line, path) is not None, default=None)


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
