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
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import parse_config

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


def test_an_operation_does_its_work_although_its_metrics_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its record says what it did, and the failure of its service says that the metrics are old."""
    found = {"result": "done", "reason": "it was done", "settled": True}
    monkeypatch.setitem(program._OPERATIONS, "integrity", lambda _config, _check: dict(found))
    data = {**CONFIG, "state_dir": str(tmp_path), "metrics_dir": str(tmp_path / "gone")}
    data["integrity"] = {**data["integrity"], "enabled": True}
    record = program.run_operation("integrity", parse_config(data), check=False)
    assert record["result"] == "failed"
    assert record["reason"].startswith(f"it was done; its metrics could not be written: {tmp_path}/gone/")
    saved = records.read_record(str(tmp_path / "integrity.json"))
    assert saved is not None and (saved["result"], saved["reason"]) == ("done", "it was done")
