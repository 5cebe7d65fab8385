# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks that erase and format a device use a plan that is made directly before. A file serves as the device."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROLE = PROJECT / "roles" / "etcd_storage"
UUID, OTHER = "0d7e4f3a-0000-4000-8000-000000000001", "0d7e4f3a-0000-4000-8000-000000000002"
IN_USE = "/dev/vdb is mounted at /srv, not at /var/lib/etcd."


def prepare(folder: Path, problem: str = "", erase: str | None = None, content: str = "") -> tuple[bool, str, str]:
    """Run volumes.yml for a device to format, without mounting it. problem: of the second plan. content: the UUID of its filesystem.

    Returns whether the tasks succeeded, their output, and what blkid finds afterwards.
    """
    device = folder / "device"
    with device.open("wb") as stream:
        stream.truncate(16 << 20)
    if content:
        subprocess.run(["mkfs.ext4", "-q", "-F", "-U", content, device], check=True)
    for name in ("volumes", "confirm"):
        (folder / f"{name}.yml").write_text((ROLE / "tasks" / f"{name}.yml").read_text())
    volume = {"device": str(device), "fstype": "ext4", "label": "etcd-data", "mkfs_options": f"-q -U {OTHER}"}
    volume.update(source=str(device), mount="/none", erase=erase, format=True, attach=False, grow=False, secure=False)
    plan: dict[str, Any] = {"problems": [], "volumes": [{**volume, "mounted": True}]}
    again = {**plan, "problems": [problem] if problem else []}
    (folder / "plan_again.yml").write_text(json.dumps([{"ansible.builtin.set_fact": {"etcd_storage_plan": again}}]))
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars_files": [str(ROLE / "vars" / "main.yml")],
        "tasks": [
            {"ansible.builtin.set_fact": {"etcd_storage_plan": plan}},
            {"ansible.builtin.include_tasks": "volumes.yml"},
        ],
    }
    (folder / "play.yml").write_text(json.dumps([play]))
    variables = {
        "ansible_python_interpreter": sys.executable,
        "etcd_host_cluster_name": "etcd",
        "etcd_host_facts": {"systemd": {"running": False}, "mounts": {}},
    }
    done = subprocess.run(
        ["ansible-playbook", "-c", "local", "-i", "localhost,", "-e", json.dumps(variables), "play.yml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found = subprocess.run(["blkid", "-p", str(device)], capture_output=True, text=True, check=False).stdout
    return done.returncode == 0, " ".join((done.stdout + done.stderr).split()), found


@pytest.mark.parametrize("erase", [None, f"UUID={UUID}"])
def test_device_is_formatted_as_it_is_now(tmp_path: Path, erase: str | None) -> None:
    succeeded, text, found = prepare(tmp_path, erase=erase, content=UUID if erase else "")
    assert succeeded and OTHER in found, text


@pytest.mark.parametrize("erase", [None, f"UUID={UUID}"])
def test_device_that_was_used_since_the_start_is_not_changed(tmp_path: Path, erase: str | None) -> None:
    content = UUID if erase else ""
    succeeded, text, found = prepare(tmp_path, IN_USE, erase, content)
    assert not succeeded and f"{IN_USE} Nothing was erased or formatted." in text, text
    assert content in found and OTHER not in found


def test_filesystem_that_others_made_is_not_mounted(tmp_path: Path) -> None:
    """Between the second plan and mkfs."""
    succeeded, text, found = prepare(tmp_path, content=UUID)
    assert not succeeded and "was blank and has a filesystem now that this run did not make" in text, text
    assert UUID in found and "Mount the volumes, now and at boot" not in text
