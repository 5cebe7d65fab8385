# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.document import build_document
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.running_members import linter_document
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read


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


def test_the_document_has_the_keys_of_headroom_lint() -> None:
    document = linter_document(a_cluster(a_member("a")))["headroom_lint"]
    assert document.keys() == read({}).document.keys() == build_document([]).keys()


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


def test_a_compaction_on_any_member_and_keys_of_kubernetes_are_evidence() -> None:
    never = a_cluster(a_member("a", compact_revision=-1), a_member("b"))
    assert not any("compacted" in one["live"] or one["kubernetes"] for one in described(never))
    once = {**a_cluster(a_member("a", compact_revision=7), a_member("b")), "sample": {"kubernetes": True}}
    assert all(one["live"]["compacted"]["value"] and one["kubernetes"] for one in described(once))


def test_hashes_of_another_cluster_say_nothing_about_members_with_the_same_names() -> None:
    """kops calls the members of etcd and of etcd-events alike."""
    measured = {**a_cluster(a_member("a"), a_member("b")), "cluster_id": "c1"}
    comparison = {
        "verdict": "differ", "revision": 5, "agreeing": ["a"], "differing": ["b"], "hashes": {"a": "1", "b": "2"}, "unknown": {},
    }  # fmt: skip
    for cluster_id, expected in (("c1", [True, False]), ("c2", [None, None]), ("", [True, False])):
        compared = {**comparison, "cluster_id": cluster_id}
        files = linter_document(measured, compared)["headroom_lint"]["files"]
        facts = [file["contents"]["headroom_member"]["live"].get("same_hash") for file in files]
        assert [fact and fact["value"] for fact in facts] == expected, cluster_id


def test_an_alarm_of_no_member_or_a_removed_one_is_an_alarm_of_every_member() -> None:
    alarms = [{"member": "0", "type": "CORRUPT"}, {"member": "4d", "type": "NOSPACE"}]
    for member in described({**a_cluster(a_member("a"), a_member("b")), "alarms": alarms}):
        assert member["live"]["alarms"]["value"] == ["CORRUPT", "NOSPACE"]


def test_what_a_silent_member_does_not_state_is_left_out() -> None:
    _first, silent = described(a_cluster(a_member("a"), a_member("b", problem="connection refused", **SILENT)))
    assert silent["live"] == {
        "alarms": {"name": "alarms", "value": []},
        "healthy": {"name": "connection refused", "value": False},
    }
    assert not any("quota" in word for word in silent["command"])


def test_disk_elections_and_certificate_are_facts_with_their_origin() -> None:
    latency = {"p99_us": 31_000, "samples": 2071, "seconds": 10, "since_start": False}
    certificate = {
        "days_left": 9,
        "not_after": "2026-12-01",
        "valid_from": None,
        "names": ["a", "10.0.0.11"],
        "problem": "",
    }
    condition = {
        "wal_fsync": latency,
        "backend_commit": {**latency, "since_start": True},
        "leader_changes": 1,
        "leader_changes_since_start": 4,
        "uptime": 90_000,
        "certificate": certificate,
    }
    live = described(a_cluster(a_member("a", **condition)))[0]["live"]
    assert live["fsync_p99_us"] == {"name": "2,071 in 10 s", "value": 31_000}
    assert live["commit_p99_us"]["name"] == "2,071 since it started 10 s ago"
    assert live["leader_changes"]["value"] == 1
    assert (live["elections"]["value"], live["uptime"]) == (3, {"name": "25 hours", "value": 90_000})
    assert live["certificate_days"] == {"name": "the certificate for a, 10.0.0.11 until 2026-12-01", "value": 9}


def test_a_certificate_that_was_not_read_is_left_out() -> None:
    unread = {"days_left": None, "not_after": None, "valid_from": None, "names": [], "problem": "refused"}
    assert "certificate_days" not in described(a_cluster(a_member("a", certificate=unread)))[0]["live"]


def test_members_that_differ_are_named() -> None:
    found = {"verdict": "differ", "revision": 9, "agreeing": ["a", "b"], "differing": ["c"], "unknown": {}}
    comparison = {**found, "hashes": {"a": "1f", "b": "1f", "c": "2e"}}
    cluster = a_cluster(a_member("a"), a_member("b"), a_member("c"))
    entries = linter_document(cluster, comparison)["headroom_lint"]["files"]
    same = [entry["contents"]["headroom_member"]["live"]["same_hash"] for entry in entries]
    assert [one["value"] for one in same] == [True, True, False]
    assert same[2]["name"] == "c differs from the majority at revision 9: 1f (a, b); 2e (c)"
    undecided = {**comparison, "verdict": "undecided", "agreeing": [], "differing": []}
    entries = linter_document(cluster, undecided)["headroom_lint"]["files"]
    assert [entry["contents"]["headroom_member"]["live"]["same_hash"]["value"] for entry in entries] == [False] * 3


def backup(age: int | None, problem: str = "", hostname: str = "a") -> dict[str, Any]:
    """Return the newest backup of a host as etcd_process_info does."""
    path = None if age is None else "/b/s.db"
    return {"hostname": hostname, "directory": "/b", "path": path, "age": age, "problem": problem}


def test_the_newest_backup_of_all_hosts_counts() -> None:
    def live(*backups: dict[str, Any]) -> dict[str, Any]:
        document = linter_document(a_cluster(a_member("a")), None, (), backups)
        facts: dict[str, Any] = document["headroom_lint"]["files"][0]["contents"]["headroom_member"]["live"]
        return {name: fact for name, fact in facts.items() if name.startswith("backup")}

    old, new, none, unread = backup(90_000), backup(7300, hostname="b"), backup(None), backup(None, "/b cannot be read")
    assert live(old, none, new) == {"backup_hours": {"name": "/b/s.db on b", "value": 2}}
    assert live(none, unread) == {"backup_missing": {"name": "/b on a", "value": True}}
    assert live(unread) == live() == {}
