# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbooks scale and replace say of a leader without room for a snapshot that it sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._plan.for_release import plan_for_release

from tests.playbooks.variables import evaluate

WORKLOAD = {"value_size": 100_000, "keys": 300, "puts_per_second": 50, "clients": 20}
SMALL, LARGE = (plan_for_release("3.7.3", WORKLOAD, 3, budget << 20) for budget in (256, 1024))
# The plans of the members that stay, the limits with which they run (None: without one), and how many warnings the plan has.
CASES: dict[str, tuple[list[str], list[tuple[dict[str, Any], int | None]], int]] = {
    "one without room": (["b"], [(LARGE, LARGE["memory_max"]), (SMALL, SMALL["memory_max"])], 1),
    "all have room": (["b"], [(LARGE, LARGE["memory_max"]), (LARGE, None)], 0),
    "the budget is raised": (["b"], [(LARGE, LARGE["memory_max"]), (LARGE, SMALL["memory_max"])], 1),
    "the budget is lowered": (["b"], [(LARGE, 2 * LARGE["memory_max"])], 0),
    "raised, and still too small": (["b"], [(SMALL, SMALL["memory_max"] // 2)], 2),
    "nobody joins": ([], [(SMALL, SMALL["memory_max"] // 2)], 0),
    "a new cluster": (["b"], [], 0),
}


def test_a_leader_without_room_is_announced(tmp_path: Path) -> None:
    cases = {
        name: {
            "etcd_cluster": {"membership": {"joins": {host: {"name": host} for host in joins}}},
            "_etcd_staying_hosts": [
                {
                    "inventory_hostname": f"etcd-{number}",
                    "etcd_plan": planned,
                    "etcd_host_facts": {"unit": {"memory_max": limit}},
                }
                for number, (planned, limit) in enumerate(staying, 1)
            ],
        }
        for name, (joins, staying, _count) in CASES.items()
    }
    found = evaluate(tmp_path, "etcd", "_etcd_join_warnings", cases)
    for name, (_joins, _staying, count) in CASES.items():
        assert len(found[name]) == count, (name, found[name])
    [text] = found["one without room"]
    assert f"only up to {SMALL['snapshot_puts_per_second']} puts/s, and the workload has 50." in text
    assert text.endswith("or raise etcd_memory_budget and run site.yml first.")
    [text] = found["the budget is raised"]
    assert "until they restart, after the joins: etcd-2. Run site.yml first" in text
