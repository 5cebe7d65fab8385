# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_tls_set as Ansible runs it; what it does is tested with its core."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.modules import etcd_tls_set


def run(capsys: pytest.CaptureFixture[str], path: Path, state: str, **more: Any) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args({"path": str(path), "state": state, **more}), pytest.raises(SystemExit):
        etcd_tls_set.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_the_three_steps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "server.crt").write_text("old")
    prepared = run(capsys, tmp_path, "prepared", keep=["server.crt"])
    folder = Path(prepared["directory"])
    assert prepared["changed"] and (folder / "server.crt").read_text() == "old"
    (folder / "server.crt").write_text("new")
    checked = run(capsys, tmp_path, "staged", _ansible_check_mode=True)
    assert checked["changed"] and not (tmp_path / "next").exists()
    for state, more in (("staged", {"certificates": {"ca.crt": "the CA\n"}}), ("active", {})):
        assert run(capsys, tmp_path, state, **more)["changed"] and not run(capsys, tmp_path, state, **more)["changed"]
    assert (tmp_path / "server.crt").read_text() == "new"
    assert (tmp_path / "ca.crt").read_text() == "the CA\n" and (tmp_path / "ca.crt").stat().st_mode & 0o777 == 0o644


def test_a_missing_directory(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    failed = run(capsys, tmp_path / "none", "prepared")
    assert failed["failed"] and "cannot be prepared" in failed["msg"]
