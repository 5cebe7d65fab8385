# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether a host that joins has space, and a large enough quota, for the cluster's database, and the leader memory to send it. Pure.

Old data on the host must not prevent it either.

A new member receives the leader's database as a file in its snap folder and renames it to its own database, so it needs one copy. Source:
SaveDBFrom in server/etcdserver/api/snap/db.go, and openSnapshotBackend in server/storage/backend.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import GROWTH_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.quota import full_quota_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import NEW_LOG_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.retirement import aside_problem

# The cluster writes during the transfer.
GROWTH_DIVISOR = 10


def largest_database(members: Iterable[Mapping[str, Any]], leaving: Collection[str]) -> int:
    """Return the largest database of the healthy members in bytes, without those whose ids are in ``leaving``; 0 if none is known."""
    return max((one.get("db_size") or 0 for one in members if one["healthy"] and one["id"] not in leaving), default=0)


def join_problem(
    member: Mapping[str, Any],
    join: Mapping[str, Any],
    database: int,
    data_dir: str,
    wal_dir: str,
    volume: int | None,
    quota: int | None = None,
) -> str:
    """Return why a host cannot join because of its old data or its space, empty if it can.

    member: what etcd_host_info found on the host. join: of the plan. database: what ``largest_database`` returned. volume: the size of the
    data volume if it is not mounted yet; its free space is checked once it is. Data that is moved aside still occupies its space. quota: of the
    new member, None if it is unknown.
    """
    fixed = aside_problem(member["mount_points"], data_dir, [wal_dir]) if join["aside"] else ""
    if fixed:
        return fixed
    full = full_quota_problem("the cluster's database", database, quota)
    if full:
        return full
    held = 0 if join["aside"] else member["used"]
    if held and (member["db_size"] or 0) >= database:
        return ""
    shared = member["wal_available"] is None
    needed = database + database // GROWTH_DIVISOR + GROWTH_BYTES + (NEW_LOG_BYTES if shared else 0)
    available = member["available"] + held if volume is None else volume
    if available < needed:
        has, needs = format_sizes_distinctly(available, needed)
        own = f", including {format_size(held)} of its own files" if held and volume is None else ""
        size = f"is on a volume of {has}" if volume is not None else f"has {has} free{own}"
        return (
            f"{data_dir} {size}, but a new member needs {needs} there: {format_size(database)} for the database that the "
            f"leader sends, and the rest for its growth{' and the write-ahead log' if shared else ''}. Enlarge the volume, or "
            "remove other files from it, such as data that was moved aside"
        )
    log = member["wal_available"]
    if volume is None and log is not None and log < NEW_LOG_BYTES and not (held and member["wal_files"]):
        has, needs = format_sizes_distinctly(log, NEW_LOG_BYTES)
        return (
            f"{wal_dir} has {has} free, but a new member needs {needs} there for its write-ahead log. Enlarge the volume, or "
            "remove other files from it"
        )
    return ""


@dataclass(frozen=True)
class StayingMember:
    """A member that stays while others join: its plan, and the MemoryMax with which it runs (0 without one)."""

    host: str
    planned_memory_max: int
    running_memory_max: int
    puts_per_second: int
    snapshot_puts_per_second: int


def leader_warnings(staying: Sequence[StayingMember]) -> list[str]:
    """Warn of a leader without the memory for the snapshot that a joining member receives. Any member that stays may lead."""
    warnings = []
    rate = max((member.puts_per_second for member in staying), default=0)
    room = min((member.snapshot_puts_per_second for member in staying), default=0)
    if room < rate:
        warnings.append(
            "While a member that joins receives the database, and for 30 s after that, the leader keeps all that clients write in memory. MemoryMax has "
            f"room for that only up to {room} puts/s, and the workload has {rate}. Change the members while clients write less, or raise "
            "etcd_memory_budget and run site.yml first."
        )
    # The new limit takes effect when a member restarts, after the joins.
    lower = [member.host for member in staying if 0 < member.running_memory_max < member.planned_memory_max]
    if lower:
        warnings.append(
            "The planned MemoryMax is larger than the one with which these members run until they restart, after the joins: "
            f"{', '.join(lower)}. Run site.yml first, so that the leader has this memory when it sends the database."
        )
    return warnings
