# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a log moves, what a killed run leaves to the next, and the logs on which a member must not start."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes, wal_plan

DATA_LOG, OWN_LOG = "/var/lib/etcd/data/member/wal", "/var/lib/etcd-wal/member/wal"

MOVED = {"source": DATA_LOG, "target": OWN_LOG, "pending": False}


@pytest.mark.parametrize(
    ("found", "wal_dir", "move"),
    [
        ({}, OWN_LOG, {}),
        ({"wal_dirs": [OWN_LOG]}, OWN_LOG, {}),
        ({"wal_dirs": [DATA_LOG]}, "", {}),
        ({"wal_dirs": [DATA_LOG]}, OWN_LOG, {"source": DATA_LOG, "target": OWN_LOG, "pending": True}),
        ({"wal_dirs": [OWN_LOG]}, "", {"source": OWN_LOG, "target": DATA_LOG, "pending": True}),
        # Interrupted after the old log was set aside, and after the move.
        ({"wal_asides": [DATA_LOG]}, OWN_LOG, {"source": DATA_LOG, "target": OWN_LOG, "pending": True}),
        ({"wal_dirs": [OWN_LOG], "wal_asides": [DATA_LOG]}, OWN_LOG, MOVED | {"pending": True}),
        ({"wal_dirs": [OWN_LOG], "wal_asides": [DATA_LOG], "wal_links": [DATA_LOG]}, OWN_LOG, MOVED),
        # Killed during the clean-up, which removes the link last.
        ({"wal_dirs": [OWN_LOG], "wal_links": [DATA_LOG]}, OWN_LOG, MOVED),
        # The log moves back before the clean-up, then the copy of the first move is left over.
        (
            {"wal_dirs": [OWN_LOG], "wal_asides": [DATA_LOG], "wal_links": [DATA_LOG]},
            "",
            {"source": OWN_LOG, "target": DATA_LOG, "pending": True},
        ),
        (
            {"wal_dirs": [DATA_LOG], "wal_asides": [DATA_LOG]},
            "",
            {"source": DATA_LOG, "target": DATA_LOG, "pending": False},
        ),
        # A move was interrupted while it copied, and then abandoned. The next move replaces the copy.
        (
            {"wal_dirs": [DATA_LOG], "wal_copies": [DATA_LOG]},
            "",
            {"source": DATA_LOG, "target": DATA_LOG, "pending": False},
        ),
        ({"wal_dirs": [OWN_LOG], "wal_copies": [DATA_LOG]}, OWN_LOG, MOVED),
        (
            {"wal_dirs": [DATA_LOG], "wal_copies": [DATA_LOG]},
            OWN_LOG,
            {"source": DATA_LOG, "target": OWN_LOG, "pending": True},
        ),
        # A link of the administrator.
        ({"wal_dirs": [DATA_LOG], "wal_links": [DATA_LOG]}, "", {}),
    ],
)
def test_log_in_another_folder_is_moved(found: dict[str, Any], wal_dir: str, move: dict[str, Any]) -> None:
    result = volumes.plan_volumes(
        {"member": {"present": True, "db_size": 1, **found}, "unit": None}, [], "/var/lib/etcd/data", wal_dir
    )
    assert result["wal_move"] == move and bool(result["problems"]) is not bool(found)


def test_two_logs_are_refused() -> None:
    host = {"member": {"present": True, "db_size": 1, "wal_dirs": [DATA_LOG, OWN_LOG]}}
    result = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG)
    assert "find the newest" in result["problems"][0] and result["wal_move"] == {}


def test_move_of_a_log_behind_a_link_is_refused() -> None:
    """The move would fail once the member is stopped. Where the log stays, a link does no harm."""
    host = {"member": {"present": True, "db_size": 1, "wal_dirs": [DATA_LOG], "wal_links": [DATA_LOG]}}
    (problem,) = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG)["problems"]
    assert f"behind a link, {DATA_LOG}, and would have to move to {OWN_LOG}" in problem
    assert volumes.plan_volumes(host, [], "/var/lib/etcd/data", "")["problems"] == []


@pytest.mark.parametrize(
    ("mount_points", "problem"),
    [
        (
            [DATA_LOG],
            f"{DATA_LOG} is a mount point and cannot be renamed, so the log cannot move to {OWN_LOG}: stop etcd, and move the files there yourself.",
        ),
        (
            [OWN_LOG],
            f"{OWN_LOG} is a mount point and cannot be replaced by the log: set etcd_wal_dir to a folder below it.",
        ),
        (["/var/lib/etcd/data"], None),
    ],
)
def test_a_log_does_not_move_from_or_to_a_mount_point(mount_points: list[str], problem: str | None) -> None:
    """The move renames both folders. It would end half-way, with a member that is stopped."""
    member = {"present": True, "db_size": 1, "wal_dirs": [DATA_LOG], "mount_points": mount_points}
    problems = volumes.plan_volumes({"member": member}, [], "/var/lib/etcd/data", OWN_LOG)["problems"]
    assert problems == ([problem] if problem else [])
    if mount_points == [DATA_LOG]:
        assert volumes.plan_volumes({"member": member}, [], "/var/lib/etcd/data", "")["problems"] == []


def test_database_without_its_log_is_refused() -> None:
    host = {"member": {"present": True, "db_size": 1, "wal_dirs": []}}
    (problem,) = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG)["problems"]
    assert "it would start without its history" in problem and OWN_LOG in problem


A_LOG_ALONE = {"member": {"present": True, "db_size": None, "wal_dirs": [OWN_LOG]}}


@pytest.mark.parametrize(
    ("recovery", "advice"),
    [("replace n2", "if it is lost, replace n2."), (None, f"empty {OWN_LOG}, and add the member again.")],
)
def test_log_without_its_database_is_refused(recovery: str | None, advice: str) -> None:
    (problem,) = volumes.plan_volumes(A_LOG_ALONE, [], "/var/lib/etcd/data", OWN_LOG, recovery=recovery)["problems"]
    assert problem.startswith(
        f"the member has a write-ahead log in {OWN_LOG}, but no database in /var/lib/etcd/data: etcd"
    )
    assert problem.endswith(advice)


def test_lost_database_does_not_matter_to_a_first_start_and_to_a_member_that_copies_another_ones_data() -> None:
    for settings in ({"recovery": ""}, {"restoring": True, "recovery": "replace n2"}):
        assert not volumes.plan_volumes(A_LOG_ALONE, [], "/var/lib/etcd/data", OWN_LOG, **settings)["problems"]


def test_lost_log_does_not_matter_to_a_member_that_copies_another_ones_data() -> None:
    host = {"member": {"present": True, "db_size": 1, "wal_dirs": []}}
    settings = {"recovery": "replace n2"}
    (problem,) = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG, **settings)["problems"]
    assert problem.endswith("If the log is on another volume, mount it; if it is lost, replace n2.")
    assert not volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG, **settings, restoring=True)["problems"]


@pytest.mark.parametrize("asides", [[DATA_LOG], []], ids=["before the clean-up", "during the clean-up"])
def test_outdated_log_is_not_installed_on_a_blank_disk(asides: list[str]) -> None:
    host = {"member": {"present": True, "db_size": 1, "wal_asides": asides, "wal_links": [DATA_LOG]}}
    result = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG)
    (problem,) = result["problems"]
    assert result["wal_move"] == {} and f"no write-ahead log in {OWN_LOG}" in problem
    assert (f"{DATA_LOG}.moved is older" in problem) is bool(asides)


def test_log_set_aside_by_an_abandoned_move_is_not_ignored() -> None:
    host = {"member": {"present": True, "db_size": 1, "wal_asides": [DATA_LOG]}}
    result = volumes.plan_volumes(host, [], "/var/lib/etcd/data", "")
    (problem,) = result["problems"]
    assert result["wal_move"] == {} and f"rename {DATA_LOG}.moved to {DATA_LOG}" in problem


def test_running_member_does_not_stop_for_a_missing_link() -> None:
    member = {"present": True, "db_size": 1, "wal_dirs": [OWN_LOG], "wal_asides": [DATA_LOG]}
    host = {"member": member, "unit": {"active_state": "active"}}
    assert volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG)["wal_move"] == MOVED


def a_filesystem(number: str, *disks: str) -> dict[str, Any]:
    return {"number": number, "disks": [{"name": name} for name in disks]}


def volumes_on(data: dict[str, Any], wal: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a host whose log is below its data, and the volumes: the data without a device, and a new device for the log."""
    host = {
        "member": {"wal_dirs": [DATA_LOG]},
        "devices": {"/dev/vdc": wal},
        "mounts": {"/var/lib/etcd": data, "/var/lib/etcd-wal": wal},
    }
    asked = [
        {"name": "data", "device": "", "mount": "/var/lib/etcd", "directory": "/var/lib/etcd/data"},
        {"name": "wal", "device": "/dev/vdc", "mount": "/var/lib/etcd-wal", "directory": "/var/lib/etcd-wal/member"},
    ]
    return host, asked


MOVES = {"source": DATA_LOG, "target": OWN_LOG, "pending": True}


@pytest.mark.parametrize(
    ("data", "wal", "warning"),
    [
        (a_filesystem("254:16", "vdb"), a_filesystem("254:32", "vdc"), None),
        (a_filesystem("253:0", "vda", "vdb"), a_filesystem("254:32", "vdc"), None),
        # Two partitions of one disk, and two logical volumes that share a disk.
        (a_filesystem("254:17", "vdb"), a_filesystem("254:18", "vdb"), "on the same disk as /var/lib/etcd, vdb"),
        (a_filesystem("253:0", "vda", "vdb"), a_filesystem("253:1", "vdb"), "on the same disk as /var/lib/etcd, vdb"),
        # btrfs, ZFS and network filesystems.
        (a_filesystem("0:31"), a_filesystem("0:31"), "the member may already use its disk"),
        (a_filesystem("0:31"), a_filesystem("254:32", "vdc"), "the member may already use its disk"),
    ],
)
def test_new_volume_is_unused_only_on_a_disk_of_its_own(
    data: dict[str, Any], wal: dict[str, Any], warning: str | None
) -> None:
    host, asked = volumes_on(data, wal)
    name, found = wal_plan.unused_volume(host, asked, MOVES)
    assert name == ("" if warning else "wal")
    assert (found is None) if warning is None else (warning in str(found))
    # A log dir on the member's own filesystem.
    asked[1]["device"] = ""
    assert (
        wal_plan.unused_volume({**host, "mounts": {"/var/lib/etcd": data, "/var/lib/etcd-wal": data}}, asked, MOVES)[0]
        == ""
    )


@pytest.mark.parametrize(
    ("move", "logs"),
    [
        ({}, [OWN_LOG]),
        (MOVED, [OWN_LOG]),
        # Interrupted after the log arrived: it is in use as soon as the member starts.
        (MOVES, [OWN_LOG]),
        # The log moves from a third disk, which is not known.
        ({**MOVES, "source": "/srv/log/wal"}, ["/srv/log/wal"]),
    ],
)
def test_volume_that_is_in_use(move: dict[str, Any], logs: list[str]) -> None:
    host, asked = volumes_on(a_filesystem("254:16", "vdb"), a_filesystem("254:32", "vdc"))
    host["member"]["wal_dirs"] = logs
    assert wal_plan.unused_volume(host, asked, move)[0] == ""
    assert wal_plan.unused_volume(host, asked[:1], move)[0] == ""
