# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts role etcd refuses to let join, by what is known of their data volume."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]
GIB = 1 << 30
CASES: dict[str, tuple[dict[str, Any], int, str]] = {
    "enough": ({}, 2 * GIB, ""),
    "too little": ({}, GIB, "/var/lib/etcd/data has 1.0 GiB free, but a new member needs 1.3 GiB there"),
    "mounted": ({"etcd_storage_ready": True, "etcd_host_data_device": {"size": GIB}}, 2 * GIB, ""),
    "not mounted": ({"etcd_storage_ready": False, "etcd_host_data_device": {"size": 4 * GIB}}, GIB, ""),
    "not mounted, too small": (
        {"etcd_storage_ready": False, "etcd_host_data_device": {"size": GIB}},
        2 * GIB,
        "/var/lib/etcd/data is on a volume of 1.0 GiB, but a new member needs 1.3 GiB there",
    ),
    "not managed": ({"etcd_storage_ready": False, "etcd_host_data_device": {}}, 2 * GIB, ""),
}


def test_hosts_without_space_are_refused(tmp_path: Path) -> None:
    tasks = [
        {
            "name": f"Evaluate {case}",
            "ansible.builtin.copy": {
                "dest": str(tmp_path / f"{case}.json"),
                "content": "{{ [_etcd_join_problem] | to_json }}",
                "mode": "0600",
            },
            "vars": {
                "etcd_data_dir": "/var/lib/etcd/data",
                "etcd_wal_dir": "",
                "etcd_cluster": {
                    "membership": {
                        "database": GIB,
                        "joins": {"localhost": {"aside": False, "remove": "", "listed": False}},
                    }
                },
                "etcd_host_facts": {
                    "member": {"available": free, "used": 0, "db_size": None, "wal_available": None, "wal_files": 0}
                },
                **given,
            },
        }
        for case, (given, free, _problem) in CASES.items()
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
    for case, (_given, _free, problem) in CASES.items():
        [found] = json.loads((tmp_path / f"{case}.json").read_text())
        assert found.startswith(problem) if problem else found == "", (case, found)
