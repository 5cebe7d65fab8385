# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The space that role etcd requires before the first step of an upgrade: for the releases of all steps, on each host once."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]
WAL = ["the write-ahead log", "/var/lib/etcd/data"]
CASES: dict[str, tuple[dict[str, Any], list[list[str]], int]] = {
    "one step": ({"_etcd_upgrade_way": ["3.7.3"]}, [WAL, ["etcd 3.7.3", "/opt/etcd"]], 0),
    "first of two": (
        {"_etcd_upgrade_way": ["3.6.16", "3.7.3"], "etcd_version": "3.6.16"},
        [WAL, ["etcd 3.6.16", "/opt/etcd"], ["etcd 3.7.3", "/opt/etcd"]],
        1,
    ),
    "second of two": ({"_etcd_upgrade_way": ["3.6.16", "3.7.3"]}, [WAL, ["etcd 3.7.3", "/opt/etcd"]], 0),
    "installed": (
        {"_etcd_upgrade_way": ["3.6.16", "3.7.3"], "etcd_version": "3.6.16", "installed": ["3.6.16"]},
        [WAL, ["etcd 3.7.3", "/opt/etcd"]],
        1,
    ),
    "another playbook": ({}, [WAL, ["etcd 3.7.3", "/opt/etcd"]], 0),
}


def test_the_space_of_all_steps_is_required_before_the_first(tmp_path: Path) -> None:
    tasks = [
        {
            "name": f"Evaluate {case}",
            "ansible.builtin.copy": {
                "dest": str(tmp_path / f"{case}.json"),
                "content": "{{ [_etcd_release_room, _etcd_release_later_steps | length] | to_json }}",
                "mode": "0600",
            },
            "vars": {
                "etcd_version": "3.7.3",
                "etcd_install_dir": "/opt/etcd",
                "etcd_data_dir": "/var/lib/etcd/data",
                "etcd_host_facts": {"versions": given.get("installed", [])},
                **{name: value for name, value in given.items() if name != "installed"},
            },
        }
        for case, (given, _rooms, _later) in CASES.items()
    ]
    role = PROJECT / "roles" / "etcd"
    play = {
        "name": "Evaluate the space",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "vars_files": [str(role / "defaults" / "main.yml"), str(role / "vars" / "main.yml")],
        "tasks": tasks,
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", "localhost,", str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for case, (_given, rooms, later) in CASES.items():
        found, count = json.loads((tmp_path / f"{case}.json").read_text())
        assert ([[room["purpose"], room["path"]] for room in found], count) == (rooms, later), case
