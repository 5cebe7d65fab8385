# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host that joins has space for the database that the leader sends, also one whose join was interrupted."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import space

GIB = 1 << 30
FREE = {"available": 8 * GIB, "used": 0, "db_size": None, "wal_available": None, "wal_files": 0, "mount_points": []}
NEW = {"name": "n4", "remove": "", "aside": False, "listed": False}
# 2 GiB, a tenth of it, 32 MiB, and two segments.
NEEDED = 2 * GIB + 2 * GIB // 10 + (32 << 20) + 128_000_000


def problem(member: dict[str, Any] | None = None, join: dict[str, Any] | None = None, volume: int | None = None) -> str:
    return space.join_problem({**FREE, **(member or {})}, {**NEW, **(join or {})}, 2 * GIB, "/data", "/wal", volume)


def test_largest_database_of_the_healthy_members_that_stay() -> None:
    members = [
        {"id": "1", "healthy": True, "db_size": 5},
        {"id": "2", "healthy": True, "db_size": 7},
        {"id": "3", "healthy": False, "db_size": 9},
        {"id": "4", "healthy": True, "db_size": None},
    ]
    assert space.largest_database(members, set()) == 7
    assert space.largest_database(members, {"2"}) == 5
    assert space.largest_database(members[3:], set()) == 0


@pytest.mark.parametrize(
    ("member", "join", "volume", "text"),
    [
        ({"available": NEEDED}, {}, None, ""),
        (
            {"available": NEEDED - 1},
            {},
            None,
            f"/data has {NEEDED - 1:,} bytes free, but a new member needs {NEEDED:,} bytes there: 2.0 GiB for",
        ),
        # An interrupted join: a part of the copy is there, then all of it.
        ({"available": NEEDED - GIB, "used": GIB, "db_size": 4096}, {"listed": True}, None, ""),
        (
            {"available": GIB, "used": GIB, "db_size": 4096},
            {"listed": True},
            None,
            "has 2.0 GiB free, including 1.0 GiB of its own files, but a new member needs 2.4 GiB",
        ),
        ({"available": 4096, "used": 2 * GIB, "db_size": 2 * GIB}, {"listed": True}, None, ""),
        # Data that is moved aside still occupies the volume.
        ({"available": GIB, "used": 3 * GIB, "db_size": 2 * GIB}, {"aside": True}, None, "has 1.0 GiB free, but"),
        # The log has a volume of its own.
        ({"available": NEEDED - 128_000_000, "wal_available": 128_000_000}, {}, None, ""),
        (
            {"wal_available": 127_999_999},
            {},
            None,
            "/wal has 127,999,999 bytes free, but a new member needs 128,000,000 bytes there for its write-ahead log",
        ),
        ({"wal_available": 4096, "wal_files": 2, "used": 1, "db_size": 4096}, {"listed": True}, None, ""),
        # The volume is not mounted yet, so what is free there now says nothing.
        ({"available": 4096, "wal_available": 4096}, {}, 10 * GIB, ""),
        ({"available": 10 * GIB}, {}, GIB, "/data is on a volume of 1.0 GiB, but a new member needs 2.4 GiB there"),
    ],
)
def test_join_problem(member: dict[str, Any], join: dict[str, Any], volume: int | None, text: str) -> None:
    found = problem(member, join, volume)
    assert text in found if text else found == ""
    assert not found or "Enlarge the volume, or remove other files" in found


FIXED = (
    "{0} is a mount point and cannot be renamed, so the data in it cannot be moved aside. Stop etcd there, move the data to a folder below it, such as "
    "{0}/{1}, and set {2} of this host to that folder"
)


@pytest.mark.parametrize(
    ("mount_points", "aside", "text"),
    [
        (["/data"], True, FIXED.format("/data", "data", "etcd_data_dir")),
        (["/wal"], True, FIXED.format("/wal", "wal", "etcd_wal_dir")),
        # A new member may use a volume that is mounted there.
        (["/data", "/wal"], False, ""),
        ([], True, ""),
    ],
)
def test_data_on_a_mount_point_is_not_moved_aside(mount_points: list[str], aside: bool, text: str) -> None:
    assert problem({"mount_points": mount_points}, {"aside": aside}) == text


def staying(host: str, running: int, planned: int = 2 * GIB, rate: int = 50, room: int = 80) -> space.StayingMember:
    return space.StayingMember(
        host,
        planned_memory_max=planned,
        running_memory_max=running,
        puts_per_second=rate,
        snapshot_puts_per_second=room,
    )


NO_ROOM = (
    "While a member that joins receives the database, and for 30 s after that, the leader keeps all that clients write in memory. MemoryMax has room for "
    "that only up to 40 puts/s, and the workload has 50. Change the members while clients write less, or raise etcd_memory_budget and run site.yml first."
)
OLD_LIMIT = (
    "The planned MemoryMax is larger than the one with which these members run until they restart, after the joins: n2, n3. Run site.yml first, so that "
    "the leader has this memory when it sends the database."
)


@pytest.mark.parametrize(
    ("members", "warnings"),
    [
        ([], []),
        ([staying("n1", 2 * GIB), staying("n2", 2 * GIB, room=50)], []),
        # Any of them may lead.
        ([staying("n1", 2 * GIB), staying("n2", 2 * GIB, room=40)], [NO_ROOM]),
        ([staying("n1", 2 * GIB), staying("n2", GIB), staying("n3", GIB)], [OLD_LIMIT]),
        ([staying("n1", 0), staying("n2", 4 * GIB)], []),
        ([staying("n1", 0, room=40), staying("n2", GIB), staying("n3", GIB)], [NO_ROOM, OLD_LIMIT]),
    ],
    ids=["a new cluster", "room", "one without room", "the budget is raised", "no limit, or a higher one", "both"],
)
def test_a_leader_without_memory_for_a_join(members: list[space.StayingMember], warnings: list[str]) -> None:
    assert space.leader_warnings(members) == warnings
