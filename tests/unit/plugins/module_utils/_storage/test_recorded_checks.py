# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded benchmarks of directories, as the roles ask for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import disk_check, fio

ANSWER = Path(__file__).parent / "fio" / "3.33-loop-ext4.json"


@pytest.fixture
def state_dir(tmp_path: Path) -> str:
    """A folder with a benchmark of the volume of tmp_path, whose 99th percentile is 1.7 ms."""
    profile, identity = fio.PROFILES["etcd"], disk_check.Volume(str(tmp_path)).identity
    measured = fio.combine([fio.parse_output(ANSWER.read_text(encoding="utf-8"))])
    record = fio.dump_record(measured, identity, profile, 1_700_000_000)
    Path(disk_check.record_file(str(tmp_path), identity, profile)).write_text(record, encoding="utf-8")
    return str(tmp_path)


@pytest.mark.parametrize(("limit", "verdict"), [(10, "ok"), ("10", "ok"), (1, "fail")])
def test_a_recorded_benchmark_is_judged_by_the_limit_asked_for(
    state_dir: str, limit: float | str, verdict: str
) -> None:
    found = disk_check.recorded_checks([{"path": state_dir, "fsync_p99_max_ms": limit}], state_dir)[state_dir]
    assert (found["verdict"], found["p99_us"], found["limit_us"]) == (verdict, 1729, int(limit) * 1000)
    assert "Measured 2023-11-14 22:13 UTC." in found["msg"]


def test_no_record_and_an_invalid_limit(state_dir: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    asked = [
        {"path": state_dir, "fsync_p99_max_ms": "much"},
        {"path": "/no/such/folder", "fsync_p99_max_ms": 10},
    ]
    assert disk_check.recorded_checks(asked, state_dir) == {state_dir: None, "/no/such/folder": None}
    asked = [{"path": state_dir, "fsync_p99_max_ms": 10}]
    assert disk_check.recorded_checks(asked, str(tmp_path / "empty")) == {state_dir: None}
