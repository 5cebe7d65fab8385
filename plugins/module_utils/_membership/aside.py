# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether the data of a member can be moved aside, before the member is removed from its cluster. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aside_problem(mount_points: Collection[str], data_dir: str, wal_dirs: Sequence[str]) -> str:
    """Return why the folders of a member cannot be renamed, empty if they can.

    mount_points: those that etcd_host_info found among the folders.
    """
    folders = [(data_dir, "data", "etcd_data_dir"), *((path, "wal", "etcd_wal_dir") for path in wal_dirs)]
    for path, name, setting in folders:
        if path in mount_points:
            return (
                f"{path} is a mount point and cannot be renamed, so the data in it cannot be moved aside. Stop etcd there, move the data to a folder below "
                f"it, such as {path}/{name}, and set {setting} of this host to that folder"
            )
    return ""
