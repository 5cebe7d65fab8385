# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The linter and the plan agree: what the plan would refuse is denied before anything is deployed, and nothing else is denied for memory.

Random members, all of them hosts of one inventory, are linted by one run of opa and planned in this process.
"""

from __future__ import annotations

import json
import random
import subprocess
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, plan

from .tools import REPOSITORY, SOURCES, tool

MEMBERS = 150
# What says that no plan can hold the workload. The others are about what was pinned, or are stricter on purpose.
REFUSING = {"memory/limit_below_estimate", "memory/restart_spike", "memory/quota_below_data"}


def member(draw: random.Random) -> dict[str, Any]:
    """Variables of a host: a version, a workload and a budget, sometimes with a setting pinned."""
    variables: dict[str, Any] = {
        "etcd_version": draw.choice(["3.5.7", "3.5.35", "3.6.16", "3.7.3"]),
        "etcd_workload": {
            "value_size": int(10 ** draw.uniform(2, 6)),
            "keys": int(10 ** draw.uniform(1, 6.5)),
            "puts_per_second": int(10 ** draw.uniform(0, 3.5)),
            "clients": draw.choice([10, 500, 20000]),
            "watchers": draw.choice([0, 5000, 1000000]),
        },
        "etcd_memory_budget": int(2 ** draw.uniform(27, 36)),
    }
    if draw.random() < 0.3:
        variables["etcd_workload"]["revisions_per_key"] = int(10 ** draw.uniform(0, 3))
    pins: dict[str, list[Any]] = {
        "etcd_snapshot_count": [500, 10000, 100000],
        "etcd_snapshot_catchup_entries": [100, 5000, 50000],
        "etcd_auto_compaction_retention": ["1m", "30m"],
        "etcd_quota_backend_bytes": ["1GB", "8GB"],
    }
    for name, values in pins.items():
        if draw.random() < 0.2:
            variables[name] = draw.choice(values)
    return variables


def planned(variables: dict[str, Any]) -> bool:
    """Whether a plan fits this workload."""
    stated = ("etcd_version", "etcd_workload", "etcd_memory_budget", "etcd_cluster_name")
    pinned = {name[5:]: value for name, value in variables.items() if name not in stated}
    try:
        plan(variables["etcd_version"], variables["etcd_workload"], 1, variables["etcd_memory_budget"], pinned)
    except PlanInfeasible:
        return False
    return True


def test_linter_denies_what_the_plan_refuses() -> None:
    draw = random.Random(20261121)
    hosts = {f"n{number}": {**member(draw), "etcd_cluster_name": f"c{number}"} for number in range(MEMBERS)}
    document = {"_meta": {"hostvars": hosts}, "all": {"children": ["etcd"]}, "etcd": {"hosts": list(hosts)}}
    command = [tool("opa"), "eval", "--stdin-input", "--format", "json", "data.headroom.deny"]
    for source in SOURCES:
        command += ["--data", source]
    done = subprocess.run(
        command, input=json.dumps(document), capture_output=True, text=True, check=True, timeout=120, cwd=REPOSITORY
    )
    findings = json.loads(done.stdout)["result"][0]["expressions"][0]["value"]
    denied = {host for finding in findings if finding["code"] in REFUSING for host in finding["hosts"]}
    refused = {host for host, variables in hosts.items() if not planned(variables)}
    differing = {
        host: (hosts[host], [finding["msg"] for finding in findings if host in finding["hosts"]])
        for host in denied ^ refused
    }
    assert not differing, json.dumps(differing, indent=1)
    # Both answers occur often enough to mean something.
    assert MEMBERS / 10 < len(refused) < MEMBERS * 9 / 10
