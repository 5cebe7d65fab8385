# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a log moves, what a killed run leaves to the next, and the logs on which a member must not start."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes

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


def test_database_without_its_log_is_refused() -> None:
    host = {"member": {"present": True, "db_size": 1, "wal_dirs": []}}
    (problem,) = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG)["problems"]
    assert "it would start without its history" in problem and OWN_LOG in problem


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
