# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the folders that a restore swaps, and tell from them how far it is.

Independent of Ansible. The new data of a member is created next to the old, so that two renames replace each folder.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts

_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z")
_RECORD = "headroom-restore.json"


class RestoreError(ValueError):
    """A restore that cannot be done; the old data is unchanged."""


@dataclass(frozen=True)
class FolderSwap:
    """A folder of etcd's data, and the folder next to it that will replace it."""

    live: str
    prepared: str


@dataclass(frozen=True)
class Restore:
    """The restore of one member. ``id`` is the same on all members; ``wal_dir`` is empty if the WAL is in the data dir.

    ``wal_alone``: the folder above the WAL dir is not etcd's own, so the WAL dir itself is swapped.
    """

    id: str
    data_dir: str
    wal_dir: str
    wal_alone: bool = False

    @property
    def swaps(self) -> list[FolderSwap]:
        """The folders to swap, the data dir last: once it is swapped, all are."""
        folders = [self.data_dir]
        if self.has_separate_wal:
            parent = os.path.dirname(self.wal_dir)
            # If the data dir is in the folder above the WAL, renaming that folder would move both.
            folders.insert(0, self.wal_dir if self.wal_alone or is_inside(self.data_dir, parent) else parent)
        return [FolderSwap(folder, f"{folder}.restore-{self.id}") for folder in folders]

    @property
    def folders(self) -> dict[str, str]:
        """The data dir and the WAL dir, as a marker records them."""
        return {"data_dir": self.data_dir, "wal_dir": self.wal_dir or os.path.join(self.data_dir, "member", "wal")}

    @property
    def has_separate_wal(self) -> bool:
        """Return whether the WAL is outside the data dir, and therefore swapped on its own."""
        return bool(self.wal_dir) and not is_inside(self.wal_dir, self.data_dir)

    def wal_dir_below(self, suffix: str) -> str:
        """Return the WAL dir of the new data while each prepared folder's name ends with ``suffix``."""
        swap = self.swaps[0]
        wal_dir = self.wal_dir or os.path.join(self.data_dir, "member", "wal")
        return os.path.normpath(os.path.join(swap.prepared + suffix, os.path.relpath(wal_dir, swap.live)))

    @property
    def is_prepared(self) -> bool:
        """Return whether the new data is complete and not yet activated.

        The data dir is prepared and activated last. So if only the WAL folder is prepared, the preparation was interrupted.
        """
        complete = all(os.path.isdir(swap.prepared) or self._is_swapped(swap) for swap in self.swaps)
        return complete and os.path.isdir(self.swaps[-1].prepared)

    @property
    def is_activated(self) -> bool:
        """Return whether etcd's folders hold the new data."""
        return all(self._is_swapped(swap) and not os.path.isdir(swap.prepared) for swap in self.swaps)

    @property
    def is_ready(self) -> bool:
        """Return whether the new data is complete. It is not on a host that was replaced, or that lost a volume."""
        return self.is_prepared or self.is_activated

    @property
    def record(self) -> dict[str, Any]:
        """The record of this restore in what is left of the new data; empty if nothing is."""
        for swap in self.swaps[::-1]:
            for folder in (swap.prepared, swap.live):
                found = read_json(self.record_path(swap, folder))
                if found and found["id"] == self.id:
                    return found
        return {}

    def record_path(self, swap: FolderSwap, folder: str) -> str:
        """Return where the restore is recorded in the live or the prepared folder of a swap."""
        return data_record_path(folder) if swap == self.swaps[-1] else os.path.join(folder, _RECORD)

    def _is_swapped(self, swap: FolderSwap) -> bool:
        return (read_json(self.record_path(swap, swap.live)) or {}).get("id") == self.id


def resolve_restore(name: str, data_dir: str, wal_dir: str) -> Restore:
    """Return the restore of the folders that the paths lead to. Raises RestoreError if the WAL dir contains the data dir.

    Links are followed, so that the folder itself is renamed and the link keeps its target. A link in the data dir is not followed: it is part
    of the old data.
    """
    data, named_data = os.path.realpath(data_dir), os.path.abspath(data_dir)
    wal = os.path.abspath(wal_dir) if wal_dir else ""
    if wal and is_inside(wal, named_data):
        wal = os.path.normpath(os.path.join(data, os.path.relpath(wal, named_data)))
    elif wal:
        wal = os.path.realpath(wal_dir)
    if wal and is_inside(data, wal):
        raise RestoreError(
            f"the data dir {data_dir} is in the WAL dir {wal_dir}, so they cannot be replaced one by one: set a WAL dir that does not "
            "contain the data dir. Nothing was changed"
        )
    restore = Restore(name, data, wal)
    return replace(restore, wal_alone=restore.has_separate_wal and _keeps_parent(restore))


def _keeps_parent(restore: Restore) -> bool:
    """Return whether to swap a separate WAL dir alone, because the folder above it is a mount point or has other content.

    A restore that has begun goes on with the folders that it began with, whatever was put next to the WAL since.
    """
    parent, name = os.path.split(restore.wal_dir)
    for folder, alone in ((restore.wal_dir, True), (parent, False)):
        for path in (folder, f"{folder}.restore-{restore.id}"):
            if (read_json(os.path.join(path, _RECORD)) or {}).get("id") == restore.id:
                return alone
    if mounts.fixed_paths([parent], mounts.read_mounts()):
        return True
    names = os.listdir(parent) if os.path.isdir(parent) else []
    # etcd's wal.tmp and wal.broken.*, and Headroom's wal.moved, wal.before-* and so on, belong to the WAL.
    return any(entry not in (name, _RECORD) and not entry.startswith(f"{name}.") for entry in names)


def is_inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it. Both are normalised."""
    return os.path.commonpath([path, folder]) == folder


def check_id(name: str) -> None:
    """Raise RestoreError for an invalid id."""
    if _ID.fullmatch(name) is None:
        raise RestoreError(f"id is {name!r}: write the time of the restore, such as 20261121T101500Z")


def data_record_path(data_dir: str) -> str:
    """Return the path of the restore's record in a data dir."""
    return os.path.join(data_dir, "member", _RECORD)


def read_record(data_dir: str) -> dict[str, Any] | None:
    """Return the record of the restore that created the data in a data dir, None if there was none."""
    return read_json(data_record_path(data_dir))


def read_json(path: str) -> dict[str, Any] | None:
    """Return a record or a marker, None if the file is missing or not one."""
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) and isinstance(data.get("id"), str) else None
