# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role etcd_maintenance tells the report, and which timers it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.playbooks.variables import evaluate

OPERATIONS = ("defrag", "snapshot", "drill", "integrity")
RUNS = {"enabled": True, "active": True, "changed": False, "failure": {}}
STOPPED = {**RUNS, "enabled": False, "active": False}
BACKUPS = {"etcd_maintenance_backup_dir": "/var/backups/etcd", "etcd_maintenance_backup_keep": 7}


def host(*running: str, changed: str = "", **variables: Any) -> dict[str, Any]:
    """The variables of a host with these timers. changed: a timer whose unit has just changed."""
    timers = {
        f"headroom-{name}.timer": {**(RUNS if name in running else STOPPED), "changed": name == changed}
        for name in OPERATIONS
    }
    facts = {
        "etcd": {"maintenance": {"defrag": {"result": "done"}}},
        "maintenance": {"timers": timers, "intervals": {"snapshot": 86400}},
    }
    names = dict.fromkeys(("cluster_name", "member_name", "endpoint", "tls_dir", "data_dir"), "x")
    return {"etcd_host_facts": facts, **{f"etcd_host_{name}": value for name, value in names.items()}, **variables}


def test_messages_for_the_report(tmp_path: Path) -> None:
    off = {"etcd_maintenance_defrag_enabled": False, "etcd_maintenance_integrity_enabled": False}
    cases = {
        "backups": host(**BACKUPS, etcd_maintenance_backup_bucket="copies"),
        "no_directory": host(),
        "no_drills": host(**BACKUPS, **off, etcd_maintenance_drill_enabled=False),
        "unwanted": host(**off, etcd_maintenance_backup_enabled="no"),
    }
    found = evaluate(tmp_path, "etcd_maintenance", "_etcd_maintenance_messages", cases)
    defrag = "each database is defragmented, one member at a time, when 45 % and 100MB of it are free; checked daily at 03:30 (*-*-* 03:30)."
    backups, keep = "backups: *-*-* 01:00 into /var/backups/etcd", "each host keeps 7"
    done = {"defrag": {"result": "done"}, "integrity": {}}
    no_defrag = "the databases are not defragmented (etcd_maintenance_defrag_enabled is false)."
    assert found["backups"] == {
        "warnings": [],
        "notes": [defrag, f"{backups} and the bucket copies; {keep}; drills: Sun 05:00."],
        "records": {"snapshot": {"interval": 86400}, "drill": {}, **done},
    }
    assert [text[:20] for text in found["no_directory"].pop("warnings")] == ["no backups are taken"]
    assert found["no_directory"] == {"notes": [defrag], "records": done}
    assert found["no_drills"] == {
        "warnings": [no_defrag],
        "notes": [f"{backups}; {keep}."],
        "records": {"snapshot": {"interval": 86400}},
    }
    assert found["unwanted"] == {"warnings": [no_defrag], "notes": [], "records": {}}


def test_timers_that_must_change(tmp_path: Path) -> None:
    cases = {
        "unchanged": (host(*OPERATIONS, **BACKUPS), []),
        "new_file": (host(*OPERATIONS, changed="drill", **BACKUPS), ["headroom-drill.timer"]),
        "no_directory": (host(*OPERATIONS), ["headroom-snapshot.timer", "headroom-drill.timer"]),
        # A timer that should not run is not restarted.
        "off": (host("defrag", "integrity", changed="drill"), []),
        "stopped": (host("defrag", etcd_maintenance_defrag_enabled="yes"), ["headroom-integrity.timer"]),
    }
    given = {case: variables for case, (variables, _names) in cases.items()}
    found = evaluate(tmp_path, "etcd_maintenance", "_etcd_maintenance_timers_to_change", given)
    assert found == {case: names for case, (_variables, names) in cases.items()}
