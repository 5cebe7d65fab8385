# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role etcd checks before the first step of an upgrade: the space for the releases of all steps, the sizes of the databases, and what runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import NEW_LOG_BYTES

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
    found = evaluate(tmp_path, "etcd", "[_etcd_release_room, _etcd_later_releases | length]", cases)
    for case, (_given, expected, later) in CASES.items():
        rooms, count = found[case]
        assert ([[room["purpose"], room["path"]] for room in rooms], count) == (expected, later), case
        assert rooms[0]["size"] == NEW_LOG_BYTES


def test_the_releases_of_the_units_count_if_no_member_answers(tmp_path: Path) -> None:
    units = {"a": "/opt/etcd/3.6.16/etcd", "b": "/usr/bin/etcd", "c": None, "d": "/opt/etcd/3.6.16/etcd"}
    hosts: dict[str, Any] = {name: {"etcd_host_facts": {"unit": {"starts": path}}} for name, path in units.items()}
    hosts["unread"] = None
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(json.dumps({"etcd": {"hosts": hosts}}))
    cluster = {"members": {name: {"name": f"member-{name}"} for name in hosts}}
    answers = {"none": [], "of an unknown version": [{"version": None}], "of one": [{"version": "3.7.3"}]}
    cases = {
        case: {"etcd_cluster": cluster, "_etcd_info": {"cluster": {"members": members}}}
        for case, members in answers.items()
    }
    expression = "[_etcd_running_releases, _etcd_unit_release_by_member]"
    found = evaluate(tmp_path, "etcd", expression, cases, ["-i", str(inventory)])
    by_member = {"member-a": "3.6.16", "member-b": "", "member-c": "", "member-d": "3.6.16", "member-unread": ""}
    assert found == {
        "none": [["3.6.16"], by_member],
        "of an unknown version": [["3.6.16"], by_member],
        "of one": [["3.7.3"], by_member],
    }


def test_databases_of_unknown_size_are_left_out(tmp_path: Path) -> None:
    members = [{"name": "a", "db_size": 4096, "role": "leader"}, {"name": "b", "db_size": None}, {"name": "c"}]
    cases = {
        "mixed": {"_etcd_info": {"cluster": {"members": members}}},
        "none": {"_etcd_info": {"cluster": {"members": []}}},
    }
    assert evaluate(tmp_path, "etcd", "_etcd_release_databases", cases) == {"mixed": {"a": 4096}, "none": {}}
