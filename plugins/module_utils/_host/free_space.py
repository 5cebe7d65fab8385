# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the free space for a member's files, also before its directories exist. Nothing here writes."""

from __future__ import annotations

import os

_BLOCK = 512  # of st_blocks, on every filesystem


def existing_parent(path: str) -> str:
    """Return the path, or its closest parent that exists."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def available_bytes(path: str) -> int:
    """Return the bytes that users can still write on the volume of a path. Raises OSError."""
    volume = os.statvfs(existing_parent(path))
    return volume.f_bavail * volume.f_frsize


def allocated_bytes(folder: str) -> int:
    """Return the bytes that the files below a folder occupy, 0 without it. Files that vanish during the walk do not count."""
    total = 0
    for parent, _folders, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * _BLOCK
            except OSError:
                continue
    return total


def space_facts(data_dir: str, wal_dir: str | None) -> dict[str, int | None]:
    """Return the space for a member in a data dir. etcd_host_info's RETURN documents the keys. Raises OSError."""
    volumes = [os.stat(existing_parent(path)).st_dev for path in (data_dir, wal_dir or data_dir)]
    return {
        "available": available_bytes(data_dir),
        "used": allocated_bytes(data_dir),
        "wal_available": available_bytes(wal_dir) if wal_dir and volumes[0] != volumes[1] else None,
    }
