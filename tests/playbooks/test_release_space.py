# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role etcd checks before the first step of an upgrade: the space for the releases of all steps, and the sizes of the databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.playbooks.variables import evaluate

WAL = ["the write-ahead log", "/var/lib/etcd/data"]
CASES: dict[str, tuple[dict[str, Any], list[list[str]], int]] = {
    "one step": ({"_etcd_upgrade_path": ["3.7.3"]}, [WAL, ["etcd 3.7.3", "/opt/etcd"]], 0),
    "first of two": (
        {"_etcd_upgrade_path": ["3.6.16", "3.7.3"], "etcd_version": "3.6.16"},
        [WAL, ["etcd 3.6.16", "/opt/etcd"], ["etcd 3.7.3", "/opt/etcd"]],
        1,
    ),
    "second of two": ({"_etcd_upgrade_path": ["3.6.16", "3.7.3"]}, [WAL, ["etcd 3.7.3", "/opt/etcd"]], 0),
    "installed": (
        {"_etcd_upgrade_path": ["3.6.16", "3.7.3"], "etcd_version": "3.6.16", "installed": ["3.6.16"]},
        [WAL, ["etcd 3.7.3", "/opt/etcd"]],
        1,
    ),
    "another playbook": ({}, [WAL, ["etcd 3.7.3", "/opt/etcd"]], 0),
}


def test_the_space_of_all_steps_is_required_before_the_first(tmp_path: Path) -> None:
    cases = {
        case: {
            "etcd_version": "3.7.3",
            "etcd_install_dir": "/opt/etcd",
            "etcd_data_dir": "/var/lib/etcd/data",
            "etcd_host_facts": {"versions": given.get("installed", [])},
            **{name: value for name, value in given.items() if name != "installed"},
        }
        for case, (given, _rooms, _later) in CASES.items()
    }
    found = evaluate(tmp_path, "etcd", "[_etcd_release_room, _etcd_release_later_steps | length]", cases)
    for case, (_given, expected, later) in CASES.items():
        rooms, count = found[case]
        assert ([[room["purpose"], room["path"]] for room in rooms], count) == (expected, later), case


def test_databases_of_unknown_size_are_left_out(tmp_path: Path) -> None:
    members = [{"name": "a", "db_size": 4096, "role": "leader"}, {"name": "b", "db_size": None}, {"name": "c"}]
    cases = {
        "mixed": {"_etcd_info": {"cluster": {"members": members}}},
        "none": {"_etcd_info": {"cluster": {"members": []}}},
    }
    assert evaluate(tmp_path, "etcd", "_etcd_release_databases", cases) == {"mixed": {"a": 4096}, "none": {}}
