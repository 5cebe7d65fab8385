# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.running_members import linter_document


def a_member(name: str, **figures: Any) -> dict[str, Any]:
    """Return a member as etcd_workload_info does."""
    return {
        "name": name,
        "id": "1f",
        "role": "follower",
        "endpoint": f"https://{name}:2379",
        "client_urls": [f"https://{name}:2379"],
        "peer_urls": [f"https://{name}:2380"],
        "version": "3.7.3",
        "healthy": True,
        "db_size": 400 << 20,
        "db_size_in_use": 300 << 20,
        "db_quota": 2 << 30,
        "lag": 3,
        "resident_memory": 90 << 20,
        "problem": "",
        **figures,
    }


SILENT = {"version": None, "healthy": False, "db_size": None, "db_size_in_use": None, "db_quota": None, "lag": None}


def a_cluster(*members: dict[str, Any]) -> dict[str, Any]:
    alarms = [{"member": members[0]["name"], "type": "NOSPACE"}]
    return {"members": list(members), "leader": "a", "alarms": alarms, "etcd_workload": {"keys": 5}}


def described(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    entries = linter_document(cluster)["headroom_lint"]["files"]
    assert {entry["path"] for entry in entries} == {"https://a:2379"}
    return [entry["contents"]["headroom_member"] for entry in entries]


def test_what_members_state_reaches_the_linter_as_flags() -> None:
    first, second = described(a_cluster(a_member("a"), a_member("b")))
    assert first["command"] == [
        "etcd",
        "--name=a",
        "--initial-cluster=a=https://a:2380,b=https://b:2380",
        "--advertise-client-urls=https://a:2379",
        "--initial-advertise-peer-urls=https://a:2380",
        "--quota-backend-bytes=2147483648",
    ]
    assert (first["release"], first["workload"], first["silent"]) == ("3.7.3", {"keys": 5}, ["extra_config"])
    assert first["live"] == {
        "alarms": {"name": "alarms", "value": ["NOSPACE"]},
        "healthy": {"name": "healthy", "value": True},
        "db_size": {"name": "db_size", "value": 400 << 20},
        "db_free": {"name": "db_free", "value": 100 << 20},
        "quota": {"name": "quota", "value": 2 << 30},
        "lag": {"name": "lag", "value": 3},
    }
    assert second["live"]["alarms"]["value"] == []


def test_what_a_silent_member_does_not_state_is_left_out() -> None:
    _first, silent = described(a_cluster(a_member("a"), a_member("b", problem="connection refused", **SILENT)))
    assert silent["live"] == {
        "alarms": {"name": "alarms", "value": []},
        "healthy": {"name": "connection refused", "value": False},
    }
    assert not any("quota" in word for word in silent["command"])
