# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program on the hosts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import program, records

CONFIG: dict[str, Any] = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())


def test_a_failed_run_is_recorded_and_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = {**CONFIG, "state_dir": str(tmp_path), "metrics_dir": str(tmp_path)}
    path = tmp_path / "maintenance.json"
    path.write_text(json.dumps(data))
    assert program.main(["--config", str(path), "snapshot"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["operation"], record["result"]) == ("snapshot", "failed")
    saved = records.read_record(str(tmp_path / "snapshot.json"))
    assert saved is not None and saved["reason"] == record["reason"]
    assert (
        'headroom_maintenance_last_run_failed{cluster="example",member="m0",operation="snapshot"} 1'
        in (tmp_path / "headroom.prom").read_text()
    )
    assert program.main(["--config", str(tmp_path / "missing"), "snapshot"]) == 1
    assert "the role etcd_maintenance writes it" in capsys.readouterr().err
