# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook audit says about hosts and processes before it measures a cluster."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.inspected_hosts import (
    endpoint_problem,
    other_processes,
    unread_hosts,
)


def a_process(name: str, host: str, *urls: str, problem: str = "") -> dict[str, Any]:
    return {"name": name, "hostname": host, "client_urls": list(urls), "problem": problem}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ({"processes": [], "msg": ""}, "no process named etcd was found"),
        ({"processes": [], "changed": False}, "no process named etcd was found"),
        (
            {"unreachable": True, "msg": "Failed to connect to the host via ssh"},
            "Failed to connect to the host via ssh",
        ),
        ({"failed": True, "msg": "MODULE FAILURE"}, "MODULE FAILURE"),
    ],
)
def test_hosts_without_a_process(found: dict[str, Any], reason: str) -> None:
    assert unread_hosts({"localhost": None, "n1": found}) == {"n1": reason}


def test_hosts_with_a_process() -> None:
    assert unread_hosts({"n1": {"processes": [a_process("m1", "n1")]}, "n2": None}) == {}


def test_why_no_endpoint_is_known() -> None:
    assert endpoint_problem([]) == ", and no etcd process was found on the hosts of inspect"
    processes = [a_process("m1", "n1"), a_process("m2", "n2", problem="its environment cannot be read")]
    assert endpoint_problem(processes) == (
        ", and the etcd processes on the hosts of inspect have no advertise-client-urls: m1 on n1, m2 on n2 (its environment cannot be read)"
    )


MEMBERS = [
    {"name": "m1", "client_urls": ["https://10.0.0.11:2379"]},
    {"name": "m2", "client_urls": ["https://10.0.0.12:2379"]},
]
FIRST = a_process("m1", "n1", "https://10.0.0.11:2379")


@pytest.mark.parametrize(
    ("process", "other"),
    [
        # By a URL, whatever the name.
        (a_process("etcd", "n2", "https://127.0.0.1:2379", "https://10.0.0.12:2379"), False),
        # By a name that only one process has.
        (a_process("m2", "n2", "https://n2.example.net:2379"), False),
        (a_process("m1", "n2", "https://n2.example.net:2379"), True),
        (a_process("m3", "n2", "https://n2.example.net:2379"), True),
        # Its settings could not be read.
        (a_process("default", "n2"), False),
    ],
)
def test_processes_of_other_clusters(process: dict[str, Any], other: bool) -> None:
    text = f"{process['name']} on n2 ({', '.join(process['client_urls'])})"
    assert other_processes([FIRST, process], MEMBERS) == ([text] if other else [])
