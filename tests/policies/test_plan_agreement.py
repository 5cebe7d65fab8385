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
from collections import Counter
from typing import Any

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import OWNED, BadConfig, render_config
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, budgets, plan_flags

from .tools import REPOSITORY, SOURCES, tool

CLUSTERS = 150
# What says that no plan can hold the workload. The others are about what was pinned, or are stricter on purpose.
REFUSING = {"memory/limit_below_estimate", "memory/restart_spike", "memory/quota_below_data"}
# What says that a setting or a limit is refused. memory/gomemlimit_range also denies a GOMEMLIMIT below the live heap, which the plan accepts.
INVALID = {"memory/unreadable", "memory/gomemlimit_ignored", "memory/gomemlimit_range"}
OVER_LIMIT = ", over the memory limit of "


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
        "etcd_snapshot_count": [500, 1000, 10000, 100000],
        "etcd_snapshot_catchup_entries": [100, 1000, 5000, 50000],
        "etcd_auto_compaction_retention": ["1m", "30m"],
        "etcd_quota_backend_bytes": ["1GB", "8GB"],
    }
    for name, values in pins.items():
        if draw.random() < 0.2:
            variables[name] = draw.choice(values)
    if draw.random() < 0.4:
        pin_a_limit(draw, variables)
    return variables


def pin_a_limit(draw: random.Random, variables: dict[str, Any]) -> None:
    """Pin a limit on memory, or what Go makes of it; sometimes at the budget, or above it."""
    budget = variables["etcd_memory_budget"]
    name = draw.choice(["etcd_memory_high", "etcd_memory_max", "etcd_gomemlimit", "etcd_gogc"])
    share = draw.choice([0.3, 0.6, 0.9, 1, 2])
    variables[name] = draw.choice([20, 100, 300]) if name == "etcd_gogc" else int(budget * share)


def planned(variables: dict[str, Any], members: int) -> bool:
    """Whether there is a plan for this many members with these variables."""
    stated = ("etcd_version", "etcd_workload", "etcd_memory_budget", "etcd_cluster_name")
    pinned = {name[5:]: value for name, value in variables.items() if name not in stated}
    try:
        plan_flags(
            variables["etcd_version"], variables["etcd_workload"], members, variables["etcd_memory_budget"], pinned
        )
    except (PlanInfeasible, BadInput):
        return False
    return True


def is_refusal(finding: dict[str, Any]) -> bool:
    """Whether a finding says that there is no plan."""
    if finding["code"] == "memory/gomemlimit_range":
        return OVER_LIMIT in finding["msg"]
    return finding["code"] in REFUSING | INVALID


def findings_of(hosts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Lint hosts."""
    return denied_in({"_meta": {"hostvars": hosts}, "all": {"children": ["etcd"]}, "etcd": {"hosts": list(hosts)}})


def denied_in(document: Any) -> list[dict[str, Any]]:
    """Lint a document as conftest passes it on."""
    command = [tool("opa"), "eval", "--stdin-input", "--format", "json", "data.headroom.deny"]
    for source in SOURCES:
        command += ["--data", source]
    done = subprocess.run(
        command, input=json.dumps(document), capture_output=True, text=True, check=True, timeout=120, cwd=REPOSITORY
    )
    findings: list[dict[str, Any]] = json.loads(done.stdout)["result"][0]["expressions"][0]["value"]
    return findings


def assert_agreement(hosts: dict[str, dict[str, Any]]) -> set[str]:
    """Check that the linter denies exactly the hosts without a plan, and return these."""
    findings = findings_of(hosts)
    denied = {host for finding in findings if is_refusal(finding) for host in finding["hosts"]}
    sizes = Counter(variables["etcd_cluster_name"] for variables in hosts.values())
    refused = {
        host for host, variables in hosts.items() if not planned(variables, sizes[variables["etcd_cluster_name"]])
    }
    differing = {
        host: (hosts[host], [finding["msg"] for finding in findings if host in finding["hosts"]])
        for host in denied ^ refused
    }
    assert not differing, json.dumps(differing, indent=1)
    return refused


def test_linter_denies_what_the_plan_refuses() -> None:
    draw = random.Random(20261121)
    hosts = {}
    for number in range(CLUSTERS):
        variables = {**member(draw), "etcd_cluster_name": f"c{number}"}
        hosts.update({f"n{number}-{host}": variables for host in range(draw.choice([1, 3]))})
    refused = assert_agreement(hosts)
    # Both answers occur often enough to mean something.
    assert len(hosts) / 10 < len(refused) < len(hosts) * 9 / 10


def test_nothing_is_denied_for_what_the_plan_chooses() -> None:
    """Where nothing is pinned, the share of the raft log is the plan's choice."""
    own = {
        "etcd_version": "3.5.35",
        "etcd_workload": {"value_size": "100KB", "keys": 200, "puts_per_second": 5, "clients": 10, "range_size": "1MB"},
        "etcd_memory_budget": "400MB",
        "etcd_cluster_name": "main",
    }
    hosts = {f"n{number}": own for number in range(3)}
    assert assert_agreement(hosts) == set()
    assert [finding["msg"] for finding in findings_of(hosts) if finding["code"].startswith("memory/")] == []


def test_budgets_that_no_plan_takes() -> None:
    """The plan refuses a budget below 64 MiB also where the model needs less."""
    own = {
        "etcd_version": "3.7.3",
        "etcd_workload": {"value_size": 100, "keys": 100, "puts_per_second": 1, "clients": 5, "range_size": "1MB"},
    }
    hosts = {
        f"n{number}": {**own, "etcd_memory_budget": budget, "etcd_cluster_name": f"c{number}"}
        for number, budget in enumerate(["60MB", (64 << 20) - 1, "64MB", 0])
    }
    assert assert_agreement(hosts) == {"n0", "n1", "n3"}


def test_restarts_that_replay_no_more_than_a_running_member_holds() -> None:
    """The peak after a restart is the larger one also with a snapshot-count of no more than the catch-up entries."""
    own = {
        "etcd_version": "3.7.3",
        "etcd_workload": {"value_size": "50KB", "keys": 30000, "puts_per_second": 10},
        "etcd_snapshot_count": 1000,
        "etcd_snapshot_catchup_entries": 1000,
    }
    hosts = {
        f"n{megabytes}-{number}": {**own, "etcd_memory_budget": f"{megabytes}MB", "etcd_cluster_name": f"c{megabytes}"}
        for megabytes in (280, 300, 320, 330)
        for number in range(3)
    }
    refused = assert_agreement(hosts)
    assert {host.partition("-")[0] for host in refused} == {"n280", "n300", "n320"}


def test_limits_and_numbers_that_the_plan_refuses_or_accepts() -> None:
    load = {"value_size": "100KB", "keys": 2000, "puts_per_second": 50}
    given: dict[str, dict[str, Any]] = {
        "high": {"etcd_memory_budget": "2GB", "etcd_memory_high": "150MB"},
        "high-with-room": {"etcd_memory_budget": "2GB", "etcd_memory_high": "1900MB"},
        "high-at-max": {"etcd_memory_budget": "2GB", "etcd_memory_high": "2GB"},
        "high-at-pinned-max": {"etcd_memory_budget": "2GB", "etcd_memory_max": "1GB", "etcd_memory_high": "1GB"},
        "high-above-budget": {"etcd_memory_budget": "1GB", "etcd_memory_high": "2GB"},
        "max-above-budget": {"etcd_memory_budget": "1GB", "etcd_memory_max": "2GB"},
        "max-below-budget": {"etcd_memory_budget": "2GB", "etcd_memory_max": "1GB"},
        "go-above-budget": {"etcd_memory_budget": "1GB", "etcd_gomemlimit": "2GB"},
        "float": {"etcd_memory_budget": 2147483648.0, "etcd_workload": {**load, "puts_per_second": 50.0}},
        "fraction": {"etcd_memory_budget": "2GB", "etcd_workload": {**load, "puts_per_second": 50.5}},
    }
    hosts = {
        name: {"etcd_version": "3.7.3", "etcd_workload": load, "etcd_cluster_name": name, **variables}
        for name, variables in given.items()
    }
    assert assert_agreement(hosts) == {
        "high",
        "high-at-max",
        "high-at-pinned-max",
        "high-above-budget",
        "max-above-budget",
        "go-above-budget",
        "fraction",
    }


@pytest.mark.parametrize(
    ("version", "members", "load"),
    [
        ("3.7.3", 1, {"value_size": "100KB", "keys": 2000, "puts_per_second": 50}),
        # The smallest GOMEMLIMIT decides, because a start reads that many keys.
        ("3.6.16", 7, {"value_size": 34, "keys": 172650, "puts_per_second": 195, "clients": 50, "range_size": 0}),
    ],
)
def test_budgets_around_the_smallest_one(version: str, members: int, load: dict[str, Any]) -> None:
    """MemoryHigh has whole MiB, so a budget that is a little larger than the memory needed may not be enough."""
    smallest = budgets(version, load, members).minimum
    amounts = [smallest + offset for offset in range(-2 << 20, 2 << 20, 1 << 17)]
    hosts = {
        f"n{amount}-{number}": {
            "etcd_version": version,
            "etcd_workload": load,
            "etcd_memory_budget": amount,
            "etcd_cluster_name": f"c{amount}",
        }
        for amount in amounts
        for number in range(members)
    }
    refused = assert_agreement(hosts)
    assert 0 < len(refused) < len(hosts)


def test_without_a_workload_the_role_plans_with_defaults() -> None:
    """roles/etcd plans for an empty workload, so nothing that only etcd's own defaults lead to is denied, and too little memory is."""
    own = {"etcd_version": "3.7.3", "etcd_storage_data_device": "/dev/vdb", "etcd_tls_enabled": True}
    hosts = {
        f"n{megabytes}": {**own, "etcd_memory_budget": f"{megabytes}MB", "etcd_cluster_name": f"c{megabytes}"}
        for megabytes in (64, 100, 512, 2048)
    }
    findings = findings_of(hosts)
    refused = {host for host, variables in hosts.items() if not fits_defaults(variables["etcd_memory_budget"])}
    assert {host for finding in findings if is_refusal(finding) for host in finding["hosts"]} == refused
    assert 0 < len(refused) < len(hosts)
    assert {finding["code"] for finding in findings} & {"compaction/off", "memory/quota_over_memory"} == set()


def fits_defaults(budget: str) -> bool:
    """Whether there is a plan for the defaults of a workload."""
    try:
        plan_flags("3.7.3", {}, 1, budget)
    except PlanInfeasible:
        return False
    return True


def deployed(variables: dict[str, Any], found: dict[str, Any], is_measured: bool) -> dict[str, Any]:
    """Return the member that has the flags of a plan: as the audit finds it running, or as a file without its workload."""
    series = found["estimate"]["series"]
    flags = [f"--{SETTINGS[name][series]['flag']}={value}" for name, value in found["settings"].items()]
    return {
        "name": "etcd-1",
        "format": "running member" if is_measured else "systemd unit",
        "image": None,
        "release": variables["etcd_version"],
        "command": ["etcd", "--data-dir=/var/lib/etcd", *flags],
        "environment": found["environment"],
        "limit": {"name": "MemoryMax", "size": found["memory_max"]},
        "memlock": None,
        "unknown": {},
        "silent": [],
        "where": {},
        "twice": {},
        "workload": variables["etcd_workload"] if is_measured else {},
        "live": {},
    }


def test_a_deployed_plan_is_not_denied() -> None:
    draw = random.Random(20261130)
    files = []
    while len(files) < CLUSTERS:
        variables = member(draw)
        try:
            found = plan_flags(
                variables["etcd_version"], variables["etcd_workload"], 1, variables["etcd_memory_budget"]
            )
        except (PlanInfeasible, BadInput):
            continue
        files += [
            {
                "path": f"{len(files)}-{is_measured}",
                "contents": {"headroom_member": deployed(variables, found, is_measured)},
            }
            for is_measured in (True, False)
        ]
    denied = [
        finding
        for finding in denied_in(files)
        if finding["code"] in REFUSING | {"memory/quota_over_memory", "memory/raft_log_share"}
    ]
    assert not denied, json.dumps(denied, indent=1)


def test_linter_knows_the_settings_that_the_role_refuses_as_extra_keys() -> None:
    listed = yaml.safe_load((REPOSITORY / "model/inputs.yml").read_text(encoding="utf-8"))["role_settings"]
    variables = yaml.safe_load((REPOSITORY / "roles/etcd/vars/main/settings.yml").read_text(encoding="utf-8"))
    settings = {
        **dict.fromkeys(variables["_etcd_base_settings"], "x"),
        "wal_dir": "x",
        **plan_flags("3.7.3", {}, 1, "2GB")["settings"],
    }
    refused = set()
    for name, spellings in SETTINGS.items():
        key = spellings.get("3.7", {}).get("key")
        if key is None or "." in key:
            continue
        try:
            render_config("3.7.3", settings, {key: "x"})
        except BadConfig as error:
            if f"{key}: set twice" in str(error) or f"{key}: {OWNED.get(key)}" in str(error):
                refused.add(name)
    assert refused == {*listed["same"], *listed["other"]}
