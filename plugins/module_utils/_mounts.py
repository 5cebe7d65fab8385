# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which filesystem a path lies on, from mountinfo. Private to the collection.

Source: proc_pid_mountinfo(5).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo. ``root`` is the part of the filesystem that is seen at ``mountpoint``."""

    device_number: str
    root: str
    mountpoint: str
    fstype: str
    source: str
    super_options: str


def parse_mountinfo(text: str) -> list[Mount]:
    """Read /proc/PID/mountinfo; lines that are not understood are left out."""
    mounts = []
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        before, after = left.split(" "), right.split(" ")
        if not separator or len(before) < 6 or len(after) < 2:
            continue
        mounts.append(
            Mount(
                device_number=before[2],
                root=_unescape(before[3]),
                mountpoint=_unescape(before[4]),
                fstype=after[0],
                source=_unescape(after[1]),
                super_options=after[2] if len(after) > 2 else "",
            )
        )
    return mounts


def mount_of(path: str, mounts: list[Mount]) -> Mount | None:
    """Return the mount that holds an absolute, resolved path: the deepest one, and of several the last."""
    best = None
    for mount in mounts:
        inside = mount.mountpoint == "/" or path == mount.mountpoint or path.startswith(mount.mountpoint + "/")
        if inside and (best is None or len(mount.mountpoint) >= len(best.mountpoint)):
            best = mount
    return best


def describe(path: str, process_mounts: list[Mount], host_mounts: list[Mount]) -> dict[str, str] | None:
    """Say where a directory of the process is mounted.

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


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), text)
