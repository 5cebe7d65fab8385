# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_device_erase as Ansible runs it; what it does is tested with its core."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.modules import etcd_device_erase

UUID = "0d7e4f3a-0000-4000-8000-000000000001"


def run(capsys: pytest.CaptureFixture[str], device: Path, entry: str, **other: Any) -> dict[str, Any]:
    with patch_module_args({"device": str(device), "entry": entry, **other}), pytest.raises(SystemExit):
        etcd_device_erase.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_dry_run_then_erasure_then_no_change(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A file is enough: it cannot be in use as a device is."""
    device = tmp_path / "device"
    with device.open("wb") as stream:
        stream.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-U", UUID, device], check=True)
    refused = run(capsys, device, "UUID=5c14")
    assert refused["failed"] and "'UUID=5c14' in etcd_storage_erase_devices does not permit" in refused["msg"]
    dry_run = run(capsys, device, f"UUID={UUID}", _ansible_check_mode=True)
    assert dry_run["changed"] and dry_run["msg"] == f"Would erase {device} (ext4)."
    erased = run(capsys, device, f"UUID={UUID}")
    assert erased["changed"] and erased["content"] == "ext4"
    again = run(capsys, device, f"UUID={UUID}")
    assert not again["changed"] and again["msg"] == f"{device} was blank already."
