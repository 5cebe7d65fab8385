# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups, drills, defragmentations and comparisons in the report."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import parse_utc
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.deployment import MAX_TABLES, deployment_report

NOW = parse_utc("2026-11-22T12:00:00Z")
DONE = {
    "result": "done",
    "reason": "saved 20 KiB",
    "started_at": "2026-11-20T01:00:04Z",
    "newest_at": "2026-11-20T01:00:03Z",
}
FAILED = {
    "result": "failed",
    "reason": "/var/backups has 0 B free",
    "started_at": "2026-11-22T01:00:04Z",
    "last_done": DONE,
}
SKIPPED = {
    "result": "skipped",
    "reason": "b took the backup of this interval at 2026-11-21T01:00:03Z",
    "started_at": "2026-11-21T01:00:09Z",
    "newest_at": "2026-11-21T01:00:03Z",
}
# An interrupted run, after one that found a difference.
KEPT = {
    **FAILED,
    "reason": "SIGINT ended it",
    "compared_at": "2026-11-15T04:00:00Z",
    "comparison": {
        "verdict": "differ",
        "revision": 7,
        "agreeing": ["a", "b"],
        "differing": ["c"],
        "hashes": {"a": "aa", "b": "aa", "c": "bb"},
        "unknown": {},
    },
}
# Status 226: systemd could not set up the service's mount namespace.
NO_RECORD = {"at": "2026-11-22T01:00:00Z", "result": "exit-code, status 226"}


def report(*records: dict[str, Any] | None, clusters: int = 1, now: float = NOW) -> str:
    """Return the report on members with these records, as one line."""
    members = [
        {"host": host, "cluster": f"c{number}", **({} if record is None else {"maintenance": record})}
        for number in range(clusters)
        for host, record in zip("abc", records)
    ]
    return " ".join(" ".join(deployment_report(members, now)).split())


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (
            [{"snapshot": DONE}, {"snapshot": SKIPPED}],
            "note: the newest backup of the cluster was taken at 2026-11-21T01:00:03Z.",
        ),
        (
            [{"snapshot": FAILED}, {"snapshot": {}}],
            "note: the newest backup of the cluster was taken at 2026-11-20T01:00:03Z.",
        ),
        ([{"snapshot": {}}, {"snapshot": None}], "note: no backup has succeeded yet."),
        ([{"snapshot": {**FAILED, "last_done": None}}], "note: no backup has succeeded yet."),
        (
            [{"snapshot": FAILED}, {"snapshot": DONE}],
            "! a: the last backup failed at 2026-11-22T01:00:04Z: /var/backups has 0 B free; the last success was at "
            "2026-11-20T01:00:04Z",
        ),
        ([{"drill": {**FAILED, "last_done": None}}], "! a: the last restore drill failed at"),
        ([{"drill": {**FAILED, "last_done": None}}], "; none has succeeded on this host"),
        ([{"defrag": FAILED}], "! a: the last defragmentation failed at"),
        (
            [{"integrity": KEPT}],
            "SIGINT ended it; the last success was at 2026-11-20T01:00:04Z; the comparison at 2026-11-15T04:00:00Z found that c differs from the majority "
            "at revision 7: aa (a, b); bb (c)",
        ),
        (
            [{"snapshot": {"failure": NO_RECORD}}],
            "! a: headroom-snapshot.service failed at 2026-11-22T01:00:00Z (exit-code, status 226), and it has no record: "
            "`journalctl -u headroom-snapshot` on the host shows the cause",
        ),
        ([{"snapshot": {**DONE, "failure": NO_RECORD}}], ", and its last record is from 2026-11-20T01:00:04Z: "),
        # Its volume could not be mounted.
        (
            [
                {
                    "snapshot": {
                        **SKIPPED,
                        "failure": {**NO_RECORD, "result": "not started: a unit that it requires failed"},
                    }
                }
            ],
            "! a: headroom-snapshot.service failed at 2026-11-22T01:00:00Z (not started: a unit that it requires failed), and its last record "
            "is from 2026-11-21T01:00:09Z: ",
        ),
        # The service failed with the run of the record.
        (
            [{"snapshot": {**FAILED, "seconds": 7200.5, "failure": {**NO_RECORD, "at": "2026-11-22T03:00:06Z"}}}],
            "! a: the last backup failed at 2026-11-22T01:00:04Z: /var/backups has 0 B free",
        ),
        # systemd waited for a process of the copy that it could not kill.
        (
            [{"snapshot": {**FAILED, "seconds": 7200.5, "failure": {**NO_RECORD, "at": "2026-11-22T03:04:06Z"}}}],
            "! a: the last backup failed at 2026-11-22T01:00:04Z: /var/backups has 0 B free",
        ),
        # A later run wrote no record, so that the recorded reason is outdated.
        (
            [{"snapshot": {**FAILED, "seconds": 7200.5, "failure": {**NO_RECORD, "at": "2026-11-23T01:00:00Z"}}}],
            "! a: headroom-snapshot.service failed at 2026-11-23T01:00:00Z (exit-code, status 226), and its last record is from "
            "2026-11-22T01:00:04Z: ",
        ),
        ([{"snapshot": {**FAILED, "failure": NO_RECORD}}], "! a: the last backup failed at"),
    ],
)
def test_failed_operations_are_problems_and_the_newest_backup_is_named(
    records: list[dict[str, Any]], said: str
) -> None:
    assert said in report(*records)


def test_failed_backup_of_one_of_many_clusters() -> None:
    text = report({"snapshot": FAILED}, clusters=MAX_TABLES + 1)
    assert "clusters, problems:" in text and "! c0: a: the last backup failed at" in text


@pytest.mark.parametrize("records", [[None], [{}], [{"defrag": DONE}]])
def test_no_promise_without_timers_for_backups(records: list[dict[str, Any]]) -> None:
    assert "backup" not in report(*records)


def test_healthy_operations_are_no_problem() -> None:
    assert "!" not in report(
        # Run by hand after the service failed.
        {
            "snapshot": {**DONE, "started_at": "2026-11-22T09:00:00Z", "failure": NO_RECORD},
            "drill": SKIPPED,
            "defrag": {},
        },
        {"snapshot": SKIPPED, "drill": {}, "defrag": {}},
    )


DAILY, SKIPPED_DAILY = {**DONE, "interval": 86400}, {**SKIPPED, "interval": 86400}
OLD = (
    "the newest backup of the cluster was taken at {}, more than {} ago: `systemctl list-timers headroom-snapshot.timer` and `headroom status` on its "
    "hosts show why"
)


@pytest.mark.parametrize(
    ("records", "now", "newest", "limit"),
    [
        (
            [DAILY, {**DAILY, "newest_at": "2026-11-19T01:00:00Z"}],
            "2026-11-22T01:00:04Z",
            "2026-11-20T01:00:03Z",
            "2 days",
        ),
        # A host in the same run, or another one of the cluster, has a newer one.
        ([DAILY], "2026-11-22T01:00:03Z", "", ""),
        ([DAILY, SKIPPED_DAILY], "2026-11-22T12:00:00Z", "", ""),
        ([DAILY, SKIPPED_DAILY], "2027-11-22T12:00:00Z", "2026-11-21T01:00:03Z", "2 days"),
        # Twice the interval of a less frequent timer.
        ([{**DONE, "interval": 7 * 86400}], "2026-12-04T01:00:03Z", "", ""),
        ([{**DONE, "interval": 7 * 86400}], "2026-12-04T01:00:04Z", "2026-11-20T01:00:03Z", "14 days"),
        ([{**DONE, "interval": 90000}], "2026-12-04T01:00:04Z", "2026-11-20T01:00:03Z", "2.08 days"),
        # Its interval is unknown.
        ([DONE], "2026-11-27T01:00:03Z", "", ""),
        ([DONE], "2026-11-27T01:00:04Z", "2026-11-20T01:00:03Z", "7 days"),
        # A new cluster.
        ([{"interval": 86400}], "2026-11-27T01:00:04Z", "", ""),
    ],
)
def test_an_old_backup_is_a_problem(records: list[dict[str, Any]], now: str, newest: str, limit: str) -> None:
    text = report(*({"snapshot": record} for record in records), now=parse_utc(now))
    assert (f"! {OLD.format(newest, limit)}" in text) is bool(newest) and ("!" in text) is bool(newest), text


def test_an_old_backup_of_one_of_many_clusters() -> None:
    text = report({"snapshot": DAILY}, clusters=MAX_TABLES + 1, now=parse_utc("2026-12-20T01:00:00Z"))
    assert f"! c0: {OLD.format('2026-11-20T01:00:03Z', '2 days')}" in text
