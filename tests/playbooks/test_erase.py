# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks that erase a device use a plan that is made directly before. A file serves as the device."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
UUID = "0d7e4f3a-0000-4000-8000-000000000001"


@pytest.mark.parametrize("problem", ["", "/dev/vdb is mounted at /srv, not at /var/lib/etcd."])
def test_device_is_erased_as_it_is_now(tmp_path: Path, problem: str) -> None:
    device = tmp_path / "device"
    with device.open("wb") as stream:
        stream.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-U", UUID, device], check=True)
    (tmp_path / "erase.yml").write_text((PROJECT / "roles" / "etcd_storage" / "tasks" / "erase.yml").read_text())
    again = {"problems": [problem] if problem else [], "volumes": [{"device": str(device), "erase": f"UUID={UUID}"}]}
    plan_again = [{"ansible.builtin.set_fact": {"etcd_storage_plan": again}}]
    (tmp_path / "plan_again.yml").write_text(json.dumps(plan_again))
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"ansible.builtin.include_tasks": "erase.yml"}]}]
    (tmp_path / "play.yml").write_text(json.dumps(play))
    variables = {"ansible_python_interpreter": sys.executable}
    done = subprocess.run(
        ["ansible-playbook", "-c", "local", "-i", "localhost,", "-e", json.dumps(variables), "play.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found = subprocess.run(["blkid", "-p", str(device)], capture_output=True, text=True, check=False).stdout
    if problem:
        assert done.returncode != 0 and f"{problem} Nothing was erased." in " ".join(done.stdout.split()) + done.stderr
        assert UUID in found
    else:
        assert done.returncode == 0, done.stdout + done.stderr
        assert found == ""
