# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program on the hosts."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import metrics, program, records
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config, parse_config

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


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (SystemExit(143), "SIGTERM ended it before it had finished"),
        (SystemExit("no such thing"), "it exited with 'no such thing'"),
        (RuntimeError("a riddle"), "an error in the program ended it (RuntimeError: a riddle)"),
    ],
    ids=["signal", "exit", "error"],
)
def test_a_run_that_is_ended_leaves_a_failed_record(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    cause: str,
) -> None:
    """systemd sends SIGTERM at the time limit. The record of the run before would say that the drill succeeded."""

    def ended(_config: Config, _check: bool) -> dict[str, Any]:
        raise error

    data = {**CONFIG, "state_dir": str(tmp_path), "metrics_dir": str(tmp_path)}
    config = parse_config({**data, "drill": {**CONFIG["drill"], "enabled": True}})
    found = {"result": "done", "reason": "its keys are equal", "settled": True}
    monkeypatch.setitem(program._OPERATIONS, "drill", lambda _config, _check: dict(found))
    done = program.run_operation("drill", config, check=False)
    monkeypatch.setitem(program._OPERATIONS, "drill", ended)
    with pytest.raises(type(error)):
        program.run_operation("drill", config, check=True)
    assert records.read_records(str(tmp_path))["drill"]["result"] == "done", "--check saves nothing"
    with pytest.raises(type(error)):
        program.run_operation("drill", config, check=False)
    saved = records.read_records(str(tmp_path))["drill"]
    assert (saved["result"], saved["settled"], saved["last_done"]["reason"]) == ("failed", False, done["reason"])
    assert saved["reason"].startswith(f"{cause}: `journalctl -u headroom-drill` on the host shows ")
    assert json.loads(capsys.readouterr().out)["reason"] == saved["reason"]
    failed = 'headroom_maintenance_last_run_failed{cluster="example",member="m0",operation="drill"} 1'
    assert failed in (tmp_path / "headroom.prom").read_text()


def test_operations_that_end_at_once_leave_the_metrics_of_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that began to write the file first has not seen the record of the other."""
    data = {**CONFIG, "state_dir": str(tmp_path), "metrics_dir": str(tmp_path)}
    for name in ("drill", "integrity"):
        data[name] = {**CONFIG[name], "enabled": True}
        monkeypatch.setitem(
            program._OPERATIONS, name, lambda _config, _check: {"result": "failed", "reason": "x", "settled": False}
        )
    other = threading.Thread(target=program.run_operation, args=("integrity", parse_config(data), False))

    def expiry_times(_folder: str) -> dict[str, float]:
        """The records have been read, and the file has not been written."""
        if threading.current_thread() is not other:
            other.start()
            other.join(2)
        return {}

    monkeypatch.setattr(metrics, "expiry_times", expiry_times)
    program.run_operation("drill", parse_config(data), check=False)
    other.join(60)
    text = (tmp_path / "headroom.prom").read_text()
    for name in ("drill", "integrity"):
        assert f'headroom_maintenance_last_run_failed{{cluster="example",member="m0",operation="{name}"}} 1' in text


@pytest.mark.parametrize("code", [None, 0])
def test_a_program_that_ends_without_an_error_leaves_no_failed_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    def ended(_config: Config, _check: bool) -> dict[str, Any]:
        raise SystemExit(code)

    monkeypatch.setitem(program._OPERATIONS, "drill", ended)
    with pytest.raises(SystemExit):
        program.run_operation("drill", parse_config({**CONFIG, "state_dir": str(tmp_path)}), check=False)
    assert records.read_records(str(tmp_path)) == {}
