# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that the new data fits next to the old, volume by volume, and find the leftovers of earlier restores.

Independent of Ansible. Folders on the same filesystem share its free space, so their needs are added up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import Restore, RestoreError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import GROWTH_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import NEW_LOG_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._host.free_space import (
    allocated_bytes,
    available_bytes,
    existing_parent,
)


def check_free_space(
    restore: Restore, size: int, reserve: int, copy_dirs: Sequence[str] = (), *, planned: bool = False
) -> None:
    """Raise RestoreError if the folders cannot be swapped, or a snapshot of ``size`` bytes and its new data do not fit.

    ``copy_dirs`` are folders that hold a copy of the snapshot during the restore. With ``planned``, folders may still be missing.
    """
    check_folders(restore, planned=planned)
    wanted = [(folder, "a copy of the snapshot", size) for folder in copy_dirs]
    wanted.append((os.path.dirname(restore.data_dir), "the new database", size + GROWTH_BYTES))
    wanted.append((os.path.dirname(restore.swaps[0].live), "the new log", NEW_LOG_BYTES))
    volumes: dict[int, tuple[str, list[tuple[str, int]]]] = {}
    for folder, purpose, needed in wanted:
        existing = existing_parent(folder)
        volumes.setdefault(device_of(existing), (existing, []))[1].append((purpose, needed))
    freed = leftovers(restore)
    for device, (folder, parts) in volumes.items():
        free = available_bytes(folder) + sum(allocated_bytes(path) for path in freed if device_of(path) == device)
        needed = sum(part for _purpose, part in parts) + reserve
        if free < needed:
            has, needs = format_sizes_distinctly(free, needed)
            listed = [f"{format_size(part)} for {purpose}" for purpose, part in parts]
            raise RestoreError(
                f"{folder} has {has} free, but the restore needs {needs} there: {', '.join(listed)}, and {format_size(reserve)} that must "
                "stay free. Move older data (*.before-*) elsewhere, enlarge the volume, or lower reserve"
            )


def check_folders(restore: Restore, *, planned: bool = False) -> None:
    """Raise RestoreError if a folder cannot be renamed, or has no parent and is not just planned."""
    paths = [restore.wal_dir, *(swap.live for swap in restore.swaps)]
    fixed = mounts.fixed_paths(filter(None, paths), mounts.read_mounts())
    if restore.has_separate_wal and restore.wal_dir in fixed:
        raise RestoreError(
            f"{restore.wal_dir} is a mount point and cannot be renamed: set etcd_wal_dir to a folder below it"
        )
    for swap in restore.swaps:
        parent = os.path.dirname(swap.live)
        if swap.live in fixed:
            setting = "etcd_data_dir" if swap == restore.swaps[-1] else "etcd_wal_dir"
            raise RestoreError(
                f"{swap.live} is a mount point and cannot be renamed: set {setting} to a folder below it"
            )
        if not os.path.isdir(parent) and not planned:
            raise RestoreError(f"{parent} does not exist: mount its volume, or create it")


def leftovers(restore: Restore) -> list[str]:
    """Return the new data of earlier restores that was never activated, which is only copies of snapshots."""
    found = []
    for swap in restore.swaps:
        parent, name = os.path.split(swap.live)
        pattern = re.compile(re.escape(name) + r"\.restore-[0-9]{8}T[0-9]{6}Z(?:\.part)?")
        names = os.listdir(parent) if os.path.isdir(parent) else []
        found += [os.path.join(parent, entry) for entry in sorted(names) if pattern.fullmatch(entry)]
    return found


def device_of(path: str) -> int:
    """Return the device of the filesystem that a path is on."""
    return os.stat(path).st_dev
