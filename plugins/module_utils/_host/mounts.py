# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the filesystem of a path in mountinfo. Private to the collection.

Source: proc_pid_mountinfo(5). The parser is the only one of the collection; fstab shares its escapes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo. ``root`` is the part of the filesystem that is seen at ``mountpoint``.

    ``device_number`` is the filesystem's, in decimal ("254:16"); ``super_options`` are the filesystem's options and
    ``mount_options`` those of this mount of it.
    """

    device_number: str
    root: str
    mountpoint: str
    fstype: str
    source: str
    super_options: str
    mount_options: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """Return all options without duplicates, those of the mount first."""
        words = [*self.mount_options.split(","), *self.super_options.split(",")]
        return tuple(dict.fromkeys(word for word in words if word))


def parse_mountinfo(text: str) -> list[Mount]:
    """Parse /proc/PID/mountinfo; skip malformed lines.

    The order is that in which they were made: of two on one mount point the later one is seen.
    """
    mounts = []
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        before, after = left.split(" "), right.split(" ")
        if not separator or len(before) < 6 or len(after) < 2:
            continue
        mounts.append(
            Mount(
                device_number=before[2],
                root=unescape(before[3]),
                mountpoint=unescape(before[4]),
                fstype=after[0],
                source=unescape(after[1]),
                super_options=after[2] if len(after) > 2 else "",
                mount_options=before[5],
            )
        )
    return mounts


def read_mounts(proc: str = "/proc") -> list[Mount]:
    """Return the mounts of this process; none if /proc does not show them."""
    try:
        with open(f"{proc}/self/mountinfo", encoding="utf-8", errors="replace") as stream:
            return parse_mountinfo(stream.read())
    except OSError:
        return []


def read_host_mounts(proc: str = "/proc") -> list[Mount]:
    """Return the mounts of the host, which are those of its first process; those of this process if it may not see them.

    systemd binds each directory that a sandboxed service may write on itself, so that it looks like a mount to the service.
    """
    try:
        with open(f"{proc}/1/mountinfo", encoding="utf-8", errors="replace") as stream:
            return parse_mountinfo(stream.read())
    except OSError:
        return read_mounts(proc)


def mount_of(path: str, mounts: Sequence[Mount]) -> Mount | None:
    """Return the mount that contains an absolute, resolved path: the deepest one, and if there are several, the last."""
    best = None
    for mount in mounts:
        inside = (path.rstrip("/") + "/").startswith(mount.mountpoint.rstrip("/") + "/")
        if inside and (best is None or len(mount.mountpoint) >= len(best.mountpoint)):
            best = mount
    return best


def mounted_at(path: str, mounts: Sequence[Mount]) -> Mount | None:
    """Return the mount that is visible at exactly this mount point."""
    return next((mount for mount in reversed(mounts) if mount.mountpoint == (path.rstrip("/") or "/")), None)


def fixed_paths(paths: Iterable[str], mounts: Sequence[Mount]) -> list[str]:
    """Return the paths at which something is mounted, without duplicates: they cannot be renamed. A symbolic link to a mount point can be."""

    def place(path: str) -> str:
        folder, name = os.path.split(path.rstrip("/"))
        return os.path.join(os.path.realpath(folder), name)

    return [path for path in dict.fromkeys(paths) if mounted_at(place(path), mounts)]


def describe(path: str, process_mounts: Sequence[Mount], host_mounts: Sequence[Mount]) -> dict[str, str] | None:
    """Describe the mount of a directory of the process.

    The device and filesystem are those that the process sees. A sandboxed unit sees its directories as mounts of
    their own, so the mount point is the host's, as long as the host has the same device there.
    """
    seen = mount_of(path, process_mounts)
    if seen is None:
        return None
    on_host = mount_of(path, host_mounts)
    same = on_host is not None and on_host.device_number == seen.device_number
    return {
        "path": path,
        "mountpoint": on_host.mountpoint if same and on_host else seen.mountpoint,
        "device": seen.source,
        "fstype": seen.fstype,
    }


def resolve(path: str, root: str = "/") -> str:
    """Resolve symbolic links of a path below ``root`` ("/" except in tests)."""
    if root == "/":
        return os.path.realpath(path)
    return os.path.normpath(path)


def unescape(text: str) -> str:
    """Undo the octal escapes of mountinfo, fstab and swaps (a space is written as \\040)."""
    return _OCTAL.sub(lambda found: chr(int(found.group(1), 8)), text)
