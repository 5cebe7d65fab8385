# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which disks are benchmarked: those of a member that has data are left alone, and never stop it from being repaired."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.measured_volumes import (
    unmeasured_volumes,
    volume_latencies,
)

NOW = 1_795_239_113.0
DATA, WAL = "/var/lib/etcd", "/var/lib/etcd-wal"
VOLUMES = [{"name": "data", "mount": DATA}, {"name": "wal", "mount": WAL}]


def record(days: float, verdict: str = "ok") -> dict[str, Any]:
    return {"verdict": verdict, "measured_at": NOW - days * 86400, "p99_us": 4000, "limit_us": 10000}


def measured(
    data: dict[str, Any] | None,
    wal: dict[str, Any] | None,
    has_member: bool = False,
    accept_slow: bool = False,
    unused: str = "",
) -> list[str]:
    """Return the names of the volumes that are benchmarked."""
    found = unmeasured_volumes(
        VOLUMES, {DATA: data, WAL: wal}, NOW, accept_slow=accept_slow, has_member=has_member, unused=unused
    )
    return [volume["name"] for volume in found]


@pytest.mark.parametrize(
    ("data", "wal", "accept_slow", "names"),
    [
        (None, None, False, ["data", "wal"]),
        ({}, record(1), False, ["data"]),
        (record(1), record(31), False, ["wal"]),
        (record(29), record(30), False, ["wal"]),
        (record(29), record(29.9), False, []),
        (record(1, "warn"), record(1), False, []),
        (record(1, "fail"), record(1), False, ["data"]),
        (record(1, "fail"), record(31, "fail"), True, ["wal"]),
    ],
)
def test_volumes_without_a_member_are_benchmarked_every_30_days(
    data: dict[str, Any] | None, wal: dict[str, Any] | None, accept_slow: bool, names: list[str]
) -> None:
    assert measured(data, wal, accept_slow=accept_slow) == names


@pytest.mark.parametrize("data", [None, record(1), record(31), record(1, "fail")])
def test_a_member_that_has_data_is_not_benchmarked(data: dict[str, Any] | None) -> None:
    assert measured(data, None, has_member=True) == []


def test_a_new_volume_on_a_disk_of_its_own_is_benchmarked_while_the_member_runs() -> None:
    assert measured(None, None, has_member=True, unused="wal") == ["wal"]
    assert measured(record(1, "fail"), record(1), has_member=True, unused="wal") == []
    assert measured(record(1), record(1, "fail"), has_member=True, unused="wal") == ["wal"]


def test_a_volume_that_was_not_looked_up_is_benchmarked() -> None:
    assert unmeasured_volumes(VOLUMES, {}, NOW, accept_slow=False, has_member=False, unused="") == VOLUMES


def result(volume: dict[str, str], **returned: int) -> dict[str, Any]:
    """Return what async_status returns for the benchmark of a volume."""
    return {"item": {"ansible_job_id": "j1", "item": volume}, **returned}


def test_a_benchmark_of_this_run_replaces_the_record() -> None:
    records = {DATA: record(1), WAL: record(40, "fail")}
    recorded = {"p99_us": 4000, "limit_us": 10000}
    assert volume_latencies(VOLUMES, records, []) == {"data": recorded, "wal": recorded}
    slow = result(VOLUMES[1], p99_us=12000, limit_us=9000)
    assert volume_latencies(VOLUMES, records, [slow]) == {"data": recorded, "wal": {"p99_us": 12000, "limit_us": 9000}}


def test_a_volume_without_a_latency_is_left_out() -> None:
    """A benchmark that failed, and one that check mode skipped, return none."""
    assert volume_latencies(VOLUMES, {DATA: None}, [result(VOLUMES[0])]) == {}
