# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an audit could not check is in its text and in all its files."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_files import (
    Audit,
    as_html,
    as_json,
    as_sarif,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_plans import MembersPlan


def a_member(name: str, **changed: Any) -> dict[str, Any]:
    """Return a member as etcd_workload_info does."""
    figures = dict.fromkeys(("version", "db_size", "db_size_in_use", "db_quota", "resident_memory"))
    urls = [f"https://{name}:2379"]
    return {
        **figures,
        "name": name,
        "id": f"1{name}",
        "role": "follower",
        "healthy": True,
        "endpoint": urls[0],
        "client_urls": urls,
        "problem": "",
        "certificate": None,
        **changed,
    }


def a_process(name: str, pid: int, **changed: Any) -> dict[str, Any]:
    """Return a process as etcd_process_info does."""
    return {
        "name": name,
        "client_urls": [f"https://{name}:2379"],
        "pid": pid,
        "hostname": f"host-{name}",
        "problem": "",
        "certificates": [],
        "memory": {},
        **changed,
    }


UNREAD = {"flag": "cert-file", "path": "/pki/a.crt", "problem": "it contains no certificate in PEM form"}
MEASURED = {
    "members": [
        a_member("a", problem="its status could not be read: permission denied"),
        a_member("b", certificate={"problem": "https://b:2379 shows no certificate: timed out"}),
        a_member("c", healthy=False, problem="connection refused"),
    ],
    "leader": "a",
    "alarms": [],
    "etcd_workload": {},
    "unreadable": ["a: its status could not be read: permission denied", "b: HTTP status 404"],
}
PROCESSES = [
    a_process("a", 7, certificates=[UNREAD, {**UNREAD, "problem": ""}]),
    a_process("b", 8, problem="run as root (become)"),
    a_process("events", 9),
]
BACKUPS = [{"hostname": "host-a", "directory": "/b", "path": None, "age": None, "problem": "/b cannot be read"}]
HOSTS = {"gone": "Failed to connect\nto the host", "other": "no process named etcd was found"}
EXPECTED = [
    "gone: Failed to connect to the host",
    "other: no process named etcd was found",
    "a: its status could not be read: permission denied",
    "b: https://b:2379 shows no certificate: timed out",
    "b: HTTP status 404",
    "c: no process of its host was read: settings, limit, disk and certificates were not checked",
    "etcd with PID 7 on host-a: cert-file /pki/a.crt: it contains no certificate in PEM form",
    "etcd with PID 8 on host-b: run as root (become)",
    "etcd with PID 9 on host-events (name events, client URLs https://events:2379) matches no member, or not clearly one",
    "host-a: /b cannot be read",
]


def test_what_was_not_checked_is_in_the_text_and_in_all_files() -> None:
    plans = [MembersPlan(("a", "b", "c"), None, "the budget is too small")]
    audit = Audit(MEASURED, [], PROCESSES, plans, BACKUPS, HOSTS)
    assert audit.unchecked() == EXPECTED
    assert audit.end_lines()[-len(EXPECTED) :] == [f"  not checked: {line}" for line in EXPECTED]
    assert json.loads(as_json(audit))["unchecked"] == EXPECTED
    [invocation] = json.loads(as_sarif(audit))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is True
    notes = [(one["level"], one["message"]["text"]) for one in invocation["toolExecutionNotifications"]]
    texts = ["no plan: the budget is too small", *(f"not checked: {line}" for line in EXPECTED)]
    assert notes == [("warning", text) for text in texts]
    assert "not checked: gone: Failed to connect to the host" in as_html(audit, None)


def test_hosts_that_all_failed_leave_members_and_backups_unchecked() -> None:
    measured = {**MEASURED, "members": [a_member("a")], "unreadable": []}
    hosts = {"gone": "unreachable"}
    lines = Audit(measured, [], [], [], hosts=hosts, backup_dirs=["/b", "/c"]).unchecked()
    assert lines == [
        "gone: unreachable",
        "a: no process of its host was read: settings, limit, disk and certificates were not checked",
        "backups: no host was searched for /b, /c",
    ]
    searched = [{**BACKUPS[0], "problem": ""}]
    assert Audit(measured, [], [a_process("a", 7)], [], searched, backup_dirs=["/b"]).unchecked() == []
    assert Audit(measured, [], [], []).unchecked() == []


def test_hashes_of_another_cluster_are_named() -> None:
    measured = {**MEASURED, "members": [a_member("a")], "unreadable": [], "cluster_id": "c1"}
    other, own = {"verdict": "agree", "cluster_id": "c2"}, {"verdict": "agree", "cluster_id": "c1"}
    assert Audit(measured, [], [], [], comparison=other).unchecked() == [
        "hashes of all keys: those of cluster c2 were compared, and cluster c1 was measured: set endpoints to members of one cluster"
    ]
    assert Audit(measured, [], [], [], comparison=own).unchecked() == Audit(measured, [], [], []).unchecked() == []


def not_compared(**comparison: Any) -> list[str]:
    """Return what was not checked of a cluster with this comparison."""
    measured = {**MEASURED, "members": [a_member("a")], "unreadable": [], "cluster_id": "c1"}
    return Audit(measured, [], [], [], comparison={"cluster_id": "c1", **comparison}).unchecked()


def test_members_whose_hashes_were_not_compared_are_named() -> None:
    found = {"revision": 5, "hashes": {"a": "x", "b": "x"}, "agreeing": ["a", "b"], "differing": []}
    denied = {"b": "permission denied", "a": "permission denied"}
    assert not_compared(**{**found, "hashes": {}}, verdict="unknown", unknown=denied) == [
        "hashes of all keys: too few members could be compared at revision 5; not compared: a: permission denied; b: permission denied"
    ]
    assert not_compared(**found, verdict="agree", unknown={"c": "returned no status"}) == [
        "hashes of all keys: not compared: c: returned no status"
    ]
    assert not_compared(**found, verdict="agree", unknown={}) == []


def test_the_reason_for_no_comparison_of_hashes_is_named() -> None:
    assert not_compared(problem="etcdctl is missing:\ninstall it") == [
        "hashes of all keys: etcdctl is missing: install it"
    ]


def test_a_cluster_that_was_checked_completely_has_no_notes() -> None:
    audit = Audit({**MEASURED, "members": [a_member("a")], "unreadable": []}, [], [a_process("a", 7)], [])
    assert audit.unchecked() == []
    assert json.loads(as_sarif(audit))["runs"][0]["invocations"][0]["toolExecutionNotifications"] == []
