# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plans of an audit: what they keep of the running cluster, one for each series, and the reason if there is none."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_files import Audit
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_plans import (
    MembersPlan,
    plan_lines,
    plan_members,
)

GB = 10**9
WORKLOAD = {"value_size": 600, "key_size": 60, "keys": 300_000, "revisions_per_key": 1, "puts_per_second": 60}


def a_member(name: str, version: str | None = "3.6.16", **changed: Any) -> dict[str, Any]:
    """Return a member as etcd_workload_info does."""
    return {
        "name": name,
        "id": f"1{name}",
        "version": version,
        "healthy": True,
        "client_urls": [f"https://{name}:2379"],
        "db_size": 4_300_000_000,
        "db_size_in_use": 4_000_000_000,
        "db_quota": 8 << 30,
        "resident_memory": 50 << 20,
        "problem": "",
        **changed,
    }


def a_process(name: str, *words: str, **changed: Any) -> dict[str, Any]:
    """Return a process as etcd_process_info does."""
    return {
        "name": name,
        "client_urls": [f"https://{name}:2379"],
        "command": ["etcd", f"--name={name}", *words],
        "environment": {},
        "config_file": "",
        "config": "",
        "problem": "",
        "pid": 9,
        "hostname": name,
        "supervisor": {"kind": "service", "unit": "etcd.service", "container": "", "engine": ""},
        "memory": {"rss_anon": 40 << 20, "rss_peak": 60 << 20, "memory_limit": 1 << 30, "oom_kills": 0},
        "disks": {},
        "certificates": [],
        **changed,
    }


def a_cluster(*members: dict[str, Any], **workload: Any) -> dict[str, Any]:
    return {"members": list(members), "leader": "a", "alarms": [], "etcd_workload": {**WORKLOAD, **workload}}


def planned(*arguments: Any) -> dict[str, Any]:
    """Return the plan of a cluster that has one."""
    [found] = plan_members(*arguments, None)
    assert found.plan is not None, found.problem
    return found.plan


def a_disk(size: int) -> dict[str, Any]:
    return {"data": {"path": "/var/lib/etcd", "size": size, "free": size // 2, "fstype": "ext4"}}


def test_the_quota_is_above_the_largest_database_file() -> None:
    cluster = a_cluster(a_member("a", db_size=GB, db_size_in_use=GB), a_member("b"), a_member("c", db_size=None))
    plan = planned(cluster, [])
    assert plan["settings"]["quota_backend_bytes"] >= 4_300_000_000 * 5 // 4
    assert any(flag["reason"] == "the database file has 4.0 GiB today" for flag in plan["flags"])


def test_the_quota_is_below_the_smallest_volume_of_the_data() -> None:
    cluster = a_cluster(a_member("a"), a_member("b"))
    processes = [a_process("a", disks=a_disk(50 * GB)), a_process("b", disks=a_disk(5 * GB))]
    plan = planned(cluster, processes)
    assert 4_300_000_000 < plan["settings"]["quota_backend_bytes"] <= 5 * GB * 9 // 10
    assert plan["notes"][0].startswith("the database file has 4.0 GiB, and the largest quota that fits is 4.2 GiB")
    # The process of another cluster does not count.
    assert (
        planned(cluster, [*processes[:1], a_process("x", disks=a_disk(GB))])["settings"]["quota_backend_bytes"] > 5 * GB
    )


def test_a_file_that_fills_its_volume_gets_no_plan() -> None:
    processes = [a_process("a", disks=a_disk(4_500_000_000))]
    [found] = plan_members(a_cluster(a_member("a", db_size_in_use=4_200_000_000)), processes, None)
    assert found.plan is None
    assert "the database file has 4.0 GiB today, a volume of 4.2 GiB has room for 3.8 GiB" in found.problem
    assert "defragment" not in found.problem
    [found] = plan_members(a_cluster(a_member("a", db_size_in_use=GB)), processes, None)
    expected = "3.1 GiB of the database file of 4.0 GiB are free: defragment the members first, and audit again."
    assert found.problem.endswith(expected)
    # Without free pages a small budget is the reason.
    [found] = plan_members(a_cluster(a_member("a")), [], "64MB")
    assert "defragment" not in found.problem and "a memory budget of" in found.problem


def test_unknown_sizes_of_databases_are_noted() -> None:
    plan = planned(a_cluster(a_member("a", db_size=None, db_size_in_use=None)), [])
    assert plan["notes"][0].startswith("no member returned the size of its database: compare it with the quota")


def test_each_series_has_its_own_plan_and_spelling() -> None:
    members = [a_member("a", "3.6.16"), a_member("b", "3.5.30"), a_member("c", "3.5.7")]
    processes = [a_process(name) for name in "abc"]
    plans = plan_members(a_cluster(*members), processes, "8GB")
    assert [(one.members, one.plan and one.plan["version"]) for one in plans] == [
        (("a",), "3.6.16"),
        (("b", "c"), "3.5.7"),  # which does not know GOMEMLIMIT
    ]
    lines = plan_lines(plans)
    text = "\n".join(lines)
    new, old = text.split("the plan for b, c")
    assert lines[0] == "the plan for a"
    assert "--snapshot-catchup-entries=" in new and "--experimental-snapshot-catchup-entries=" not in new
    assert "--experimental-snapshot-catchup-entries=" in old and "GOMEMLIMIT" not in old
    end = "\n".join(Audit(a_cluster(*members), [], processes, plans).end_lines())
    new, old = end.split("planned settings for b, c")
    assert "planned settings for a" in new and "    --snapshot-catchup-entries=" in new
    assert "    --experimental-snapshot-catchup-entries=" in old and "    --snapshot-catchup-entries=" not in old


def test_without_a_release_there_are_no_settings_but_the_reason() -> None:
    cluster = a_cluster(a_member("a", None, problem="the status was denied"), a_member("b", None))
    plans = plan_members(cluster, [a_process("a")], None)
    assert plan_lines(plans) == [
        "no plan: the release could not be read, and settings have other names in other releases "
        "(a: the status was denied; b: its status and its metrics lack it)"
    ]
    assert not any("planned settings" in line for line in Audit(cluster, [], [a_process("a")], plans).end_lines())


def test_members_of_an_unknown_release_are_listed_beside_the_plan() -> None:
    cluster = a_cluster(a_member("a"), a_member("b", None, problem="connection refused"), a_member("c", "3.6.0-rc.1"))
    plans = plan_members(cluster, [a_process("a"), a_process("b")], None)
    assert [one.members for one in plans] == [("a",), ("c",), ("b",)]
    lines = Audit(cluster, [], [a_process("a"), a_process("b")], plans).end_lines()
    assert lines[0].startswith("  no plan for c: '3.6.0-rc.1' is not a valid etcd version")
    assert lines[1].startswith("  no plan for b: the release could not be read") and "connection refused" in lines[1]
    assert "  planned settings for a" in lines
    row = next(line.split() for line in lines if line.startswith("  b "))
    assert row[-3:] == ["-", "-", "-"]


def test_one_plan_is_printed_without_a_heading() -> None:
    plans = plan_members(a_cluster(a_member("a")), [], None)
    assert plan_lines(plans)[0].startswith("etcd 3.6.16, 1 member, ")
    assert plan_lines([MembersPlan(("a",), None, "no")]) == ["no plan: no"]


@pytest.mark.parametrize("version", ["3.5.35", "3.7.3", "3.9.0"])
def test_values_above_the_default_limit_are_planned_without_inspection(version: str) -> None:
    plan = planned(a_cluster(a_member("a", version), value_size=4 << 20, keys=100, puts_per_second=1), [])
    assert "max_request_bytes" not in plan["settings"]
    assert plan["estimate"]["workload"]["value_size"] == 4 << 20
    expected = "the measured puts average 4.0 MiB, above the max-request-bytes of etcd's default (1.5 MiB)"
    assert any(note.startswith(expected) for note in plan["notes"])
    # etcd compares the whole put with its limit.
    plan = planned(a_cluster(a_member("a", version), value_size=3 << 19, keys=100, puts_per_second=1), [])
    assert any("above the max-request-bytes" in note for note in plan["notes"])


@pytest.mark.parametrize(
    "changed",
    [
        {"command": ["etcd", "--name=a", "--max-request-bytes=10485760", "--experimental-memory-mlock"]},
        {
            "environment": {"ETCD_NAME": "a", "ETCD_MAX_REQUEST_BYTES": "10485760", "ETCD_MEMORY_MLOCK": "true"},
            "command": ["etcd"],
        },
        {"config_file": "/e.yml", "config": "name: a\nmax-request-bytes: 10485760\nmemory-mlock: True\n"},
    ],
)
def test_the_processes_limit_of_requests_and_locked_memory_are_kept(changed: dict[str, Any]) -> None:
    cluster = a_cluster(a_member("a"), a_member("b"), value_size=4 << 20, keys=100, puts_per_second=1)
    processes = [a_process("a", **changed), a_process("b", "--max-request-bytes=2097152")]
    plan = planned(cluster, processes)
    assert (plan["settings"]["max_request_bytes"], plan["settings"]["memory_mlock"]) == (10 << 20, True)
    assert not any("max-request-bytes" in note for note in plan["notes"])
    # Those that cannot be read say nothing.
    plan = planned(cluster, [{**process, "problem": "run as root"} for process in processes])
    assert "max_request_bytes" not in plan["settings"] and "memory_mlock" not in plan["settings"]


def test_a_limit_below_the_measured_values_is_left_out() -> None:
    cluster = a_cluster(a_member("a"), value_size=4 << 20, keys=100, puts_per_second=1)
    plan = planned(cluster, [a_process("a", "--max-request-bytes=2097152", "--memory-mlock=false")])
    assert "max_request_bytes" not in plan["settings"] and "memory_mlock" not in plan["settings"]
    assert any(
        "above the max-request-bytes that the members' processes have (2.0 MiB)" in note for note in plan["notes"]
    )


def test_unset_or_invalid_limits_are_not_kept() -> None:
    processes = [a_process("a", "--max-request-bytes=lots")]
    for chosen in ([a_process("a")], processes):
        assert "max_request_bytes" not in planned(a_cluster(a_member("a")), chosen)["settings"]
