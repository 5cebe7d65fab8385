# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The remedy of a lost quorum, and memory against everything that the plan predicts: running, after a restart, and while a follower receives a snapshot."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import plan_flags
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.problems import cluster_problems

LOAD = {"value_size": "100KB", "keys": 500, "puts_per_second": 100}


@pytest.mark.parametrize(
    ("members", "peak", "above"),
    [
        (3, "restart_rss_anon_peak", False),
        (3, "follower_snapshot_rss_anon_peak", True),
        (1, "restart_rss_anon_peak", True),
    ],
)
def test_memory_above_a_planned_peak(members: int, peak: str, above: bool) -> None:
    """A leader grows while a new member receives a snapshot, as the plan predicts; a single member has no follower."""
    planned = plan_flags("3.7.3", LOAD, members, "16GB")
    estimate = planned["estimate"]
    # Otherwise the largest peak would be one that every member has.
    assert members == 1 or estimate["follower_snapshot_rss_anon_peak"] > estimate["restart_rss_anon_peak"]
    member = {
        "host": "etcd-1",
        "cluster": "demo",
        "plan": planned,
        "info": {"process": {"running": True, "rss_anon": estimate[peak] + 1, "memory_limit": planned["memory_max"]}},
    }
    found = [problem for problem in cluster_problems([member], 0.0) if "above the planned peak" in problem]
    assert bool(found) is above, found


def test_a_lost_quorum_is_not_only_for_a_backup() -> None:
    """A backup lacks the writes that the members that are left have."""
    lost = {
        "name": "m1",
        "id": "1",
        "role": "follower",
        "healthy": False,
        "health_error": "no leader",
        "db_quota": None,
    }
    cluster = {
        "members": [{**lost, "db_size": None, "version": None}],
        "quorum": {"ok": False, "healthy": 0},
        "alarms": [],
    }
    found = cluster_problems([{"host": "etcd-1", "cluster": "demo", "plan": {}, "info": {"cluster": cluster}}], 0.0)
    assert found[0].endswith(
        "start its members, or, if most of them are lost for good, run the playbook restore_lost_quorum"
    )
