# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a dry run reports of a disk whose I/O scheduler was changed since the role set it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def test_dry_run_reports_a_drifted_scheduler(tmp_path: Path) -> None:
    """The rule is in place; only the disk has another scheduler. Nothing runs, as in any dry run."""
    disks = sorted(os.listdir("/sys/class/block")) if os.path.isdir("/sys/class/block") else []
    if not disks:
        pytest.skip("this machine has no block device")
    rules = "# rules\n"
    (tmp_path / "rules").write_text(rules)
    scheduler = Path(f"/sys/block/{disks[0]}/queue/scheduler")
    before = scheduler.read_text() if scheduler.exists() else ""
    variables = {
        "ansible_python_interpreter": sys.executable,
        "etcd_host_udev_rules_file": str(tmp_path / "rules"),
        "etcd_storage_scheduler": "bfq",
        "etcd_storage_plan": {"scheduler": {"rules": rules, "pending": [disks[0]]}},
    }
    tasks = PROJECT / "roles" / "etcd_storage" / "tasks" / "scheduler.yml"
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"ansible.builtin.include_tasks": str(tasks)}]}]
    (tmp_path / "play.yml").write_text(json.dumps(play))
    done = subprocess.run(
        ["ansible-playbook", "--check", "-c", "local", "-i", "localhost,", "-e", json.dumps(variables), "play.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"changed: \[localhost\] => \(item={disks[0]}\)", done.stdout), done.stdout
    assert (scheduler.read_text() if scheduler.exists() else "") == before
