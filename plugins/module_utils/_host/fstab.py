# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read /etc/fstab, and find what it lists but is not mounted. Private to the collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import (
    Mount,
    mount_of,
    read_host_mounts,
    unescape,
)

# The kernel's own limit.
_MAX_LINKS = 40


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


def entry_of(path: str, entries: Sequence[FstabEntry], mounts: Sequence[Mount]) -> FstabEntry | None:
    """Return the entry for a mount point, however it is written; if there are several, the first one that is written as the path is."""
    point = os.path.realpath(path)
    found = [entry for entry, resolved in _resolved_entries(point, entries, mounts) if resolved == point]
    return min(found, key=lambda entry: line_problem(entry.line, path) is not None, default=None)


def unmounted_entries(path: str, entries: Sequence[FstabEntry], mounts: Sequence[Mount]) -> list[FstabEntry]:
    """Return the entries for the path, or for a folder above it, that are not mounted, without those that a mounted volume would hide.

    An automount that has not mounted its volume does not count as mounted.
    """
    return [entry for entry, _point in _unmounted(path, entries, mounts)]


def unmounted_volume(path: str, entries: Sequence[FstabEntry], mounts: Sequence[Mount]) -> str:
    """Return the deepest mount point of ``unmounted_entries``, or an empty text. Files below it would be hidden as soon as it is mounted."""
    return max((point for _entry, point in _unmounted(path, entries, mounts)), key=len, default="")


def unmounted_problem(path: str, *, without_noauto: bool = False) -> str:
    """Return which volume of a directory this host's fstab lists but is not mounted, and what to do; empty if there is none.

    Files would be hidden as soon as it is mounted. Look at the directory before, which mounts an automount.
    without_noauto: leave out the volumes that are mounted on request only.
    """
    entries = [entry for entry in read_fstab() if not (without_noauto and "noauto" in entry.options.split(","))]
    point = unmounted_volume(path, entries, read_host_mounts())
    return f"nothing is mounted at {point}, which /etc/fstab lists: mount it" if point else ""


def _unmounted(path: str, entries: Sequence[FstabEntry], mounts: Sequence[Mount]) -> list[tuple[FstabEntry, str]]:
    """Return the entries of ``unmounted_entries``, each with its resolved mount point."""
    target = os.path.realpath(path)
    mounted = [mount.mountpoint for mount in mounts if mount.fstype != "autofs"]
    visible = max((point for point in mounted if _is_inside(target, point)), key=len, default="/")
    return [
        (entry, point)
        for entry, point in _resolved_entries(target, entries, mounts)
        if _is_inside(target, point) and len(point) > len(visible)
    ]


def _is_inside(path: str, folder: str) -> bool:
    return (path.rstrip("/") + "/").startswith(folder.rstrip("/") + "/")


def _resolved_entries(
    target: str, entries: Sequence[FstabEntry], mounts: Sequence[Mount]
) -> list[tuple[FstabEntry, str]]:
    """Return the entries that have a mount point, each with that as ``_resolve`` returns it."""
    absolute = [entry for entry in entries if entry.mount_point.startswith("/")]
    return [(entry, _resolve(entry.mount_point, target, mounts)) for entry in absolute]


def _resolve(path: str, target: str, mounts: Sequence[Mount]) -> str:
    """Return a path without links, as far as they are on the volumes that contain ``target``, itself a resolved path.

    Any look at another mounted volume, even at its mount point, waits if its server does not answer. A mount point is not a link.
    """
    pending, found, links = path.split("/"), "/", 0
    while pending:
        name = pending.pop(0)
        step = os.path.normpath(os.path.join(found, name))
        mount = mount_of(step, mounts)
        visited = mount is None or (mount.mountpoint != step and _is_inside(target, mount.mountpoint))
        if name in ("", ".", "..") or not visited or links == _MAX_LINKS or not os.path.islink(step):
            found = step
            continue
        links += 1
        link = os.readlink(step)
        pending = link.split("/") + pending
        found = "/" if link.startswith("/") else found
    return found
