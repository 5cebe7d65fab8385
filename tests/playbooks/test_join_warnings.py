# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbooks scale and replace say of a leader without room for a snapshot that it sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._plan.unknown_release import plan

from tests.playbooks.variables import evaluate

WORKLOAD = {"value_size": 100_000, "keys": 300, "puts_per_second": 50, "clients": 20}
SMALL, LARGE = (plan("3.7.3", WORKLOAD, 3, budget << 20) for budget in (256, 1024))
CASES: dict[str, tuple[list[str], list[dict[str, Any]], bool]] = {
    "one without room": (["b"], [LARGE, SMALL], True),
    "all have room": (["b"], [LARGE, LARGE], False),
    "nobody joins": ([], [SMALL], False),
    "a new cluster": (["b"], [], False),
}


def test_a_leader_without_room_is_announced(tmp_path: Path) -> None:
    cases = {
        name: {
            "etcd_cluster": {"membership": {"joins": {host: {"name": host} for host in joins}}},
            "_etcd_staying_plans": plans,
        }
        for name, (joins, plans, _warned) in CASES.items()
    }
    found = evaluate(tmp_path, "etcd", "_etcd_join_warnings", cases)
    for name, (_joins, _plans, warned) in CASES.items():
        assert len(found[name]) == warned, (name, found[name])
    [text] = found["one without room"]
    assert f"only up to {SMALL['snapshot_puts_per_second']} puts/s, and the workload has 50." in text
    assert text.endswith("or raise etcd_memory_budget and run site.yml first.")
