# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a comparison that there is nothing to do for. tests/integration compares members of real etcd."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import integrity, program, records
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import parse_config

CONFIG = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())
COMPARED = {
    "operation": "integrity",
    "result": "done",
    "reason": "3 members agree",
    "started_at": "2026-11-01T04:15:00Z",
    "seconds": 2.0,
    "settled": True,
}


@pytest.mark.parametrize(("leader", "kept"), [("m0", None), ("m1", COMPARED)])
def test_a_single_voting_member_forgets_the_last_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leader: str, kept: object
) -> None:
    """Otherwise EtcdMembersNotCompared would fire for ever after a cluster shrank to one member."""
    config = parse_config({**CONFIG, "state_dir": str(tmp_path), "metrics_dir": ""})
    voters = [SimpleNamespace(name="m0", votes=True), SimpleNamespace(name="m1", votes=leader == "m1")]
    cluster = SimpleNamespace(leader=leader, members=voters, error="")
    monkeypatch.setattr(integrity, "observe_cluster", lambda *_args: (cluster, "m0"))
    records.save_record(str(tmp_path), COMPARED)
    assert program.run_operation("integrity", config, check=False)["result"] == "skipped"
    saved = records.read_records(str(tmp_path))["integrity"]
    text = records.format_metrics("c", "m0", {"integrity": saved}, {})
    assert saved["last_done"] == kept and ("last_done_timestamp" in text) == bool(kept)
