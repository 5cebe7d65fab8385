# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_host_info as Ansible runs it, on the machine that runs the tests."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.modules import etcd_host_info

from tests.unit.plugins.module_utils.conftest import PAGE_SIZE, inline, leaf, meta


def run(capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_host_info.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert result["changed"] is False and "failed" not in result
    return result


def test_without_questions_it_describes_the_host(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys)
    assert result["hostname"] and result["memory_total"] > 0 and result["cpus"] >= 1
    assert result["memory_limit"] is None or result["memory_limit"] > 0
    assert result["machine"] == os.uname().machine and result["kernel"] == os.uname().release
    assert set(result["systemd"]) == {"running", "version"} and "member" not in result and "unit" not in result


def test_a_database_shows_the_version_of_its_cluster(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    database = tmp_path / "member" / "snap" / "db"
    database.parent.mkdir(parents=True)
    root = leaf(3, inline({b"cluster": {b"clusterVersion": b"3.5.0"}}))
    pages = [meta(7, 3), meta(8, 3), leaf(2, {}), root]
    database.write_bytes(b"".join(page.ljust(PAGE_SIZE, b"\0") for page in pages))
    assert run(capsys, data_dir=str(tmp_path))["member"]["cluster_version"] == "3.5.0"
    database.write_bytes(b"no database")
    assert run(capsys, data_dir=str(tmp_path))["member"]["cluster_version"] is None


def test_folders_that_cannot_be_renamed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The former data dir of a host that left its group counts too."""
    (tmp_path / "etcd.yml").write_text("data-dir: /proc/former\n")
    assert run(capsys, data_dir=str(tmp_path), wal_dir="/proc")["member"]["mount_points"] == ["/proc"]
    assert run(capsys, data_dir="/proc/")["member"]["mount_points"] == ["/proc/"]
    assert run(capsys, data_dir=str(tmp_path))["member"]["mount_points"] == []


def test_each_question_is_answered_by_the_name_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    result = run(
        capsys,
        commands=["sh", "no-such-command"],
        python_modules=["json", "no_such_module"],
        devices=["/dev/null", "/dev/no-such-device"],
        mounts=["/", str(tmp_path)],
        files=[str(tmp_path), "/no/such/file"],
        users=["root"],
        groups=["root", "no-such-group"],
        install_dir=str(tmp_path),
        data_dir=str(tmp_path),
    )
    assert result["commands"]["sh"] and result["commands"]["no-such-command"] is None
    assert result["python_modules"] == {"json": True, "no_such_module": False}
    assert result["devices"]["/dev/null"]["exists"] and not result["devices"]["/dev/null"]["is_block"]
    assert not result["devices"]["/dev/no-such-device"]["exists"]
    assert result["mounts"]["/"]["mounted"] and not result["mounts"][str(tmp_path)]["mounted"]
    assert result["files"][str(tmp_path)]["type"] == "directory" and not result["files"]["/no/such/file"]["exists"]
    assert result["users"]["root"]["uid"] == 0
    assert result["groups"] == {"root": {"exists": True, "gid": 0}, "no-such-group": {"exists": False}}
    assert result["versions"] == [] and result["member"]["present"] is False
