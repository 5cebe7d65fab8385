# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the filter reports the problems of hosts that cannot form their clusters."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.etcdops.headroom.plugins.filter.etcd_topology import FilterModule, etcd_topology


def member(host: str, cluster: str) -> dict[str, Any]:
    place = {"address": f"10.0.0.{host[-1]}", "client_port": 2379, "peer_port": 2380, "tls": True}
    return {"host": host, "cluster": cluster, "name": host, **place, "has_data": False, "forming": False}


MEMBERS = [member("n1", "north"), member("s2", "south")]
ABSENT = [{"host": "s3", "cluster": "south"}]


def test_problems_are_an_error_or_the_result() -> None:
    problem = "cluster south: this run leaves out s3"
    with pytest.raises(AnsibleFilterError, match=problem):
        etcd_topology(MEMBERS, ABSENT)
    found = etcd_topology(MEMBERS, ABSENT, fail=False)
    assert list(found) == ["north", "south"] and found["north"] == found["south"]
    assert found["north"]["problem"].startswith(problem) and not found["north"]["problem"].endswith(".")


def test_clusters_without_problems() -> None:
    assert "problem" not in etcd_topology(MEMBERS, [], fail=False)["north"]


def test_join_warnings_read_the_plans_and_the_running_limits() -> None:
    plan = {"memory_max": 9, "snapshot_puts_per_second": 40, "estimate": {"workload": {"puts_per_second": 50}}}
    host = {"inventory_hostname": "n1", "etcd_plan": plan}
    warn = FilterModule().filters()["etcd_join_warnings"]
    [rate] = warn([{**host, "etcd_host_facts": {"unit": None}}])
    assert "up to 40 puts/s, and the workload has 50" in rate
    [_rate, limit] = warn([{**host, "etcd_host_facts": {"unit": {"memory_max": 5}}}])
    assert "after the joins: n1." in limit
