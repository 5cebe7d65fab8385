# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether the data of a member can be moved aside, and find the removed members whose hosts are unknown. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def aside_problem(mount_points: Collection[str], data_dir: str, wal_dirs: Sequence[str]) -> str:
    """Return why the folders of a member cannot be renamed, empty if they can. Asked before the member is removed from its cluster.

    mount_points: those that etcd_host_info found among the folders.
    """
    # A log in the data dir, also one that is mounted there, moves with the data.
    logs = [path for path in wal_dirs if not path.startswith(f"{data_dir}/")]
    folders = [(data_dir, "data", "etcd_data_dir"), *((path, "wal", "etcd_wal_dir") for path in logs)]
    for path, name, setting in folders:
        if path in mount_points:
            return (
                f"{path} is a mount point and cannot be renamed, so the data in it cannot be moved aside. Stop etcd there, move the data to a folder below "
                f"it, such as {path}/{name}, and set {setting} of this host to that folder"
            )
    return ""


def unfound_members(
    removals: Sequence[Mapping[str, str]], hosts: Mapping[str, str], given: Collection[str]
) -> list[str]:
    """Return the members that were removed by name and that no host outside the group is known to have, as texts with name and id.

    removals: of the plans, also those of members that this run replaced. hosts: the etcd_name of each such host, empty without one. given: the names and
    ids of the request; data with a given id was looked for on every host.
    """
    known = {name for host, member in hosts.items() for name in (host, host.partition(".")[0], member)}
    return [
        f"{removal['name']} ({removal['id']})"
        for removal in removals
        if removal["name"] in given and removal["name"] not in known and removal["id"] not in given
    ]
