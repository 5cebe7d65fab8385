# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When role etcd writes the settings for the first start of a member that joins. tests/integration starts such members."""

from __future__ import annotations

from pathlib import Path

import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.wal_move import member_facts

from tests.playbooks.variables import PROJECT, evaluate

TASK = "Write the configuration file for the first start"


def test_a_member_without_a_log_gets_the_settings_for_its_first_start(tmp_path: Path) -> None:
    [join] = yaml.safe_load((PROJECT / "roles/etcd/tasks/join_member.yml").read_text(encoding="utf-8"))
    [condition] = [task["when"] for task in join["block"] if task["name"] == TASK]
    files = {
        "no data": [],
        "a first start that failed": ["snap/db"],
        "a learner that started": ["snap/db", "wal/0.wal"],
        "data of another member": ["snap/db", "wal/0.wal"],
    }
    cases = {}
    for case, names in files.items():
        for name in names:
            path = tmp_path / case / "member" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        facts = {"member": member_facts(str(tmp_path / case), None)}
        cases[case] = {"etcd_host_facts": facts, "_etcd_join": {"aside": case == "data of another member"}}
    assert evaluate(tmp_path, "etcd", f"({condition})", cases) == {
        "no data": True,
        "a first start that failed": True,
        "a learner that started": False,
        "data of another member": True,
    }
