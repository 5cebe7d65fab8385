# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the free space for a change of the release: for its archive, the backup and the drill."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import NEW_LOG_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._host.free_space import available_bytes, existing_parent


@dataclass(frozen=True)
class Room:
    """Required space below a path: bytes, and copies of the database."""

    path: str
    purpose: str
    size: int = 0
    databases: int = 0


# A drill holds the snapshot, and restores it into a temporary member: two more copies, its log, and a reserve.
_DRILL_BYTES = 700_000_000
_DRILL_DATABASES = 2
# The archive and the unpacked release of etcd 3.5 to 3.7 take up to 90 MB; the rest is a margin.
_RELEASE_BYTES = 150_000_000


def release_rooms(releases: Iterable[str], log_dir: str, install_dir: str) -> list[Room]:
    """Return the space for new files of the log, and for the releases that are installed."""
    installed = [Room(install_dir, f"etcd {release}", _RELEASE_BYTES) for release in releases]
    return [Room(log_dir, "the write-ahead log", NEW_LOG_BYTES), *installed]


def backup_rooms(path: str, backups: int) -> list[Room]:
    """Return the space for the backups of all steps of a change. Each snapshot stays, the drills run one after the other."""
    if not path or backups < 1:
        return []
    purpose = "a backup and its drill" if backups == 1 else f"{backups} backups and their drills"
    return [Room(path, purpose, _DRILL_BYTES, _DRILL_DATABASES + backups)]


def room_problems(rooms: Sequence[Room], database: int) -> list[str]:
    """Return a problem for each volume with less space than all purposes on it need together."""
    volumes: dict[int, list[Room]] = {}
    for room in rooms:
        volumes.setdefault(os.stat(existing_parent(room.path)).st_dev, []).append(room)
    problems = []
    for found in volumes.values():
        needed = sum(room.size + room.databases * database for room in found)
        free = available_bytes(found[0].path)
        if free < needed:
            free_text, needed_text = format_sizes_distinctly(free, needed)
            uses = " and ".join(f"{room.purpose} ({room.path})" for room in found)
            problems.append(
                f"{free_text} are free on the volume for {uses}, {needed_text} are needed: free space, or choose "
                "other directories"
            )
    return problems
