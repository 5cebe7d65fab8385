# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages of the maintenance for the report."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.filter.etcd_maintenance import FilterModule
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report import maintenance

FAILURE = {"at": "2026-11-22T01:00:00Z", "result": "exit-code, status 226"}
DEFRAG = {"enabled": True, "calendar": "*-*-* 03:30", "free_share": 45, "free_size": "100MB"}
SNAPSHOT = {
    "enabled": True,
    "calendar": "*-*-* 01:00",
    "directory": "/var/backups/etcd",
    "bucket": {"name": ""},
    "keep": 14,
}


def settings(**changed: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of all operations, each with changes."""
    all_on = {
        "defrag": DEFRAG,
        "snapshot": SNAPSHOT,
        "drill": {"enabled": True, "calendar": "Sun 05:00"},
        "integrity": {"enabled": True},
    }
    return {name: {**section, **changed.get(name, {})} for name, section in all_on.items()}


@pytest.mark.parametrize(
    ("changed", "backups", "texts"),
    [
        ({}, True, []),
        (
            {"defrag": {"enabled": False}},
            True,
            ["the databases are not defragmented (etcd_maintenance_defrag_enabled is false)."],
        ),
        (
            {"snapshot": {"enabled": False, "directory": ""}},
            True,
            [
                "no backups are taken: set etcd_maintenance_backup_dir to a directory on each host, preferably on another volume than the data."
            ],
        ),
        # The user wants none.
        ({"snapshot": {"enabled": False, "directory": ""}}, False, []),
        ({"snapshot": {"enabled": False}}, False, []),
    ],
)
def test_warnings(changed: dict[str, dict[str, Any]], backups: bool, texts: list[str]) -> None:
    assert maintenance.warnings(settings(**changed), backups=backups) == texts


DEFRAGMENTED = "each database is defragmented, one member at a time, when 45 % and 100MB of it are free; checked"
SAVED = "backups: *-*-* 01:00 into /var/backups/etcd"


@pytest.mark.parametrize(
    ("changed", "texts"),
    [
        (
            {},
            [
                f"{DEFRAGMENTED} daily at 03:30 (*-*-* 03:30).",
                f"{SAVED}; each host keeps 14; drills: Sun 05:00.",
            ],
        ),
        (
            {"defrag": {"calendar": "Sat *-*-* 03:30:00"}, "drill": {"enabled": False}},
            [f"{DEFRAGMENTED} Sat *-*-* 03:30:00.", f"{SAVED}; each host keeps 14."],
        ),
        (
            {"defrag": {"enabled": False}, "snapshot": {"bucket": {"name": "etcd-copies"}, "keep": "3"}},
            [f"{SAVED} and the bucket etcd-copies; each host keeps 3; drills: Sun 05:00."],
        ),
        ({"snapshot": {"enabled": False}}, [f"{DEFRAGMENTED} daily at 03:30 (*-*-* 03:30)."]),
    ],
)
def test_notes(changed: dict[str, dict[str, Any]], texts: list[str]) -> None:
    assert maintenance.notes(settings(**changed)) == texts


def host(etcd: Any = None, **changed: Any) -> dict[str, Any]:
    timers = {f"headroom-{name}.timer": {"failure": {}} for name in maintenance.OPERATIONS}
    return {"etcd": etcd, "maintenance": {"timers": timers, "intervals": {}, **changed}}


def test_operations_that_have_not_run_have_an_empty_record() -> None:
    """Without a member, or without records."""
    for etcd in (None, {}, {"maintenance": {}}):
        assert maintenance.records(settings(), host(etcd)) == {
            "snapshot": {},
            "drill": {},
            "defrag": {},
            "integrity": {},
        }
    del (found := host())["etcd"]
    assert list(maintenance.records(settings(), found)) == ["snapshot", "drill", "defrag", "integrity"]


def test_the_failure_of_a_service_and_the_interval_are_part_of_the_record() -> None:
    timers = {
        "headroom-snapshot.timer": {"failure": FAILURE},
        "headroom-drill.timer": {"failure": FAILURE},
        "headroom-defrag.timer": {"failure": {}},
    }
    found = host(
        {"maintenance": {"defrag": {"result": "done"}, "drill": {"result": "done"}}},
        timers=timers,
        intervals={"snapshot": 86400},
    )
    assert maintenance.records(settings(drill={"enabled": False}), found) == {
        "snapshot": {"failure": FAILURE, "interval": 86400},
        "defrag": {"result": "done"},
        "integrity": {},
    }


def test_the_filter_returns_all_of_them() -> None:
    messages = FilterModule().filters()["etcd_maintenance_messages"](settings(), host(), backups=True)
    assert {name: len(found) for name, found in messages.items()} == {"warnings": 0, "notes": 2, "records": 4}
