# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The maintenance on the host of a removed member whose data is lost: its installed configuration shows which member it had."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

ROLES = Path(__file__).resolve().parents[2] / "roles"
CLUSTER = {"id": "cdf8", "members": [{"name": "etcd-1", "client_urls": ["https://10.0.0.1:2379"]}]}
LOST = {"present": False, "identity": None, "other_data_dir": None, "other_identity": None}


@pytest.mark.parametrize(
    ("member", "stopped"),
    [
        (LOST, True),
        ({**LOST, "present": True}, False),
        ({**LOST, "other_data_dir": "/data/etcd"}, False),
    ],
    ids=["no data", "data", "data in the folder of its former group"],
)
def test_only_a_host_without_data_is_judged_by_its_maintenance(member: dict[str, Any], stopped: bool) -> None:
    loader = DataLoader()
    variables = {
        "etcd_host_facts": {"member": member},
        "etcd_retire": ["etcd-2"],
        "groups": {"etcd_targets": ["etcd-1", "etcd-3"]},
        "hostvars": {"etcd-1": {"etcd_host_facts": {"etcd": {"cluster": CLUSTER}}}, "etcd-3": {}},
    }
    templar = Templar(loader=loader, variables=variables)
    tasks = loader.load_from_file(str(ROLES / "etcd" / "tasks" / "retire.yml"), trusted_as_template=True)
    task = next(one for one in tasks if one["name"] == "Stop the maintenance of a removed member whose data is lost")
    assert all(map(templar.evaluate_conditional, task["when"])) is stopped
    assert templar.template(task["vars"]) == {
        "etcd_maintenance_retired_members": ["etcd-2"],
        "etcd_maintenance_retired_clusters": [CLUSTER, {}],
    }


@pytest.mark.parametrize(
    ("installed", "enabled", "stopped", "changed"),
    [
        ("etcd-2", True, True, 2),
        ("etcd-2", False, True, 1),
        ("etcd-1", True, False, 0),  # a current member
        ("", True, False, 0),
    ],
    ids=["removed", "again", "another member", "no maintenance"],
)
def test_the_maintenance_stops_only_if_it_is_that_of_the_removed_member(
    tmp_path: Path, installed: str, enabled: bool, stopped: bool, changed: int
) -> None:
    config, metrics = tmp_path / "maintenance.json", tmp_path / "headroom.prom"
    metrics.write_text("")
    (tmp_path / "headroom-snapshot.timer").write_text("")
    if installed:
        connection = {"endpoints": ["https://127.0.0.1:2379", "https://10.0.0.1:2379"]}
        config.write_text(json.dumps({"member": installed, "connection": connection, "metrics_dir": str(tmp_path)}))
    says = "echo Removed /etc/systemd/system/timers.target.wants/headroom-snapshot.timer. >&2" if enabled else ":"
    program = tmp_path / "systemctl"
    program.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\n{says}\n')
    program.chmod(0o755)
    text = (ROLES / "etcd_maintenance" / "tasks" / "retire.yml").read_text()
    text = text.replace("/etc/systemd/system", str(tmp_path)).replace("/etc/etcd/maintenance.json", str(config))
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "environment": {"PATH": f"{tmp_path}:/usr/bin:/bin"},
        "tasks": yaml.safe_load(text),
        "vars": {
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "etcd_maintenance_retired_members": ["etcd-2"],
            "etcd_maintenance_retired_clusters": [{}, CLUSTER],
        },
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-c", "local", "-i", "localhost,", str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "calls").exists() == stopped
    assert metrics.exists() != stopped
    assert f"changed={changed} " in done.stdout, done.stdout
