# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inspected_members import add_process, process_of

MEMORY = {"rss_anon": 90, "oom_kills": 0, "memory_limit": 1000}
ENTRY = {"command": ["etcd", "--name=a", "--initial-cluster=a=x,b=y"], "environment": {}, "silent": ["extra_config"]}


def a_process(**changed: Any) -> dict[str, Any]:
    """Return a process as etcd_process_info does."""
    return {
        "name": "a",
        "client_urls": ["https://a:2379"],
        "command": ["/bin/etcd", "--name=a", "--initial-cluster", "a=x", "--quota-backend-bytes=9"],
        "environment": {"GOGC": "50", "ETCD_INITIAL_CLUSTER": "a=x"},
        "config_file": "",
        "config": "",
        "problem": "",
        "memory": MEMORY,
        "disks": {"data": {"path": "/data", "size": 100, "free": 60, "fstype": "ext4"}},
        "certificates": [
            {"path": "/a.crt", "days_left": 9, "not_after": "2026-12-01", "valid_from": None, "problem": ""},
            {
                "path": "/b.crt",
                "days_left": None,
                "not_after": None,
                "valid_from": None,
                "problem": "it contains no certificate",
            },
        ],
        **changed,
    }


def added(**changed: Any) -> dict[str, Any]:
    return add_process({**ENTRY, "live": {"lag": {"name": "lag", "value": 3}}}, a_process(**changed))


def test_flags_and_variables_are_those_of_the_process_and_the_cluster_that_of_today() -> None:
    found = added()
    assert found["command"] == ["etcd", "--name=a", "--quota-backend-bytes=9", "--initial-cluster=a=x,b=y"]
    assert (found["environment"], found["silent"]) == ({"GOGC": "50"}, [])
    assert found["limit"] == {"name": "the memory limit of its control group", "size": "1000"}
    assert {name: fact["value"] for name, fact in found["live"].items()} == {
        "lag": 3,
        "anonymous": 90,
        "oom_kills": 0,
        "memory_limit": 1000,
        "disk_size": 100,
        "disk_free": 60,
        "certificate_files": [{"path": "/a.crt", "days": 9, "until": "2026-12-01", "from": None}],
    }


def test_a_repeated_flag_stays_repeated() -> None:
    words = [
        "etcd",
        "--quota-backend-bytes",
        "1",
        "-initial-cluster",
        "a=x",
        "--pre-vote",
        "--quota-backend-bytes=2",
        "--initial-cluster=a=y",
    ]
    found = added(command=words)["command"]
    assert found == [
        "etcd",
        "--quota-backend-bytes",
        "1",
        "--pre-vote",
        "--quota-backend-bytes=2",
        "--initial-cluster=a=x,b=y",
    ]


def test_a_config_file_replaces_flags() -> None:
    found = added(config_file="/etc/etcd.yml", config="name: a\ninitial-cluster: a=x\nquota-backend-bytes: 9\n")
    assert (found["command"], found["environment"]) == (["etcd"], {"GOGC": "50"})
    assert found["config"] == {"name": "a", "initial-cluster": "a=x,b=y", "quota-backend-bytes": 9}


@pytest.mark.parametrize(
    "changed",
    [{"problem": "not root"}, {"config_file": "/e", "config": "a: ["}, {"config_file": "/e", "config": "- a"}],
)
def test_settings_that_cannot_be_read_stay_unknown(changed: dict[str, Any]) -> None:
    found = added(**changed)
    assert (found["command"], found["silent"]) == (ENTRY["command"], ["extra_config"])
    assert found["live"]["memory_limit"]["value"] == 1000


def test_a_process_without_limit_and_disks_has_fewer_facts() -> None:
    found = added(memory={**MEMORY, "memory_limit": None}, disks={}, certificates=[])
    assert found["limit"] is None and set(found["live"]) == {"lag", "anonymous", "oom_kills"}


MEMBER = {"name": "a", "client_urls": ["https://a:2379"]}


@pytest.mark.parametrize(
    ("processes", "chosen"),
    [
        ([], None),
        ([("a", [])], 0),
        ([("b", ["https://a:2379"])], 0),
        ([("a", ["https://b:2379"]), ("a", ["https://a:2379"])], 1),
        ([("a", ["https://b:2379"]), ("a", ["https://c:2379"])], None),
        ([("b", ["https://a:2379"]), ("c", ["https://a:2379"])], None),
        ([("b", ["https://b:2379"])], None),
    ],
)
def test_a_process_belongs_to_a_member_only_if_that_is_clear(
    processes: list[tuple[str, list[str]]], chosen: int | None
) -> None:
    found = [a_process(name=name, client_urls=urls) for name, urls in processes]
    assert process_of(MEMBER, found) is (None if chosen is None else found[chosen])
